"""The index and its model as served by MLflow: a sound or an image in, ranked images and captions out.

An input row has ``content``, a file's bytes (base64 in a JSON request), or ``path``, a file that the server can read. It yields
several output rows, one a result. Nothing is pickled: the server loads the folder ``search/`` as the stage wrote it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from components.core.errors import HearsightError
from components.search.queries import Query, parse_query, read_query
from components.search.searcher import KINDS, Searcher, SearchResult
from components.vision.image_files import file_of_row

if TYPE_CHECKING:
    import pandas as pd

BOTH = "both"
DEFAULTS: dict[str, Any] = {"k": 5, "kind": BOTH, "language": "", "split": "", "images": False}
"""Parameters of a prediction; ``images`` adds thumbnails to the results, in base64."""


class ServedSearch:
    """A search engine with MLflow's prediction interface."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    def predict(self, rows: pd.DataFrame, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """Return the nearest items of each query in one table.

        Args:
            rows: with the columns ``content`` (bytes, or base64) or ``path`` or both; each row has exactly one of them.
            params: some of :data:`DEFAULTS`.

        Returns:
            ``query`` (the row it answers, from 0), ``kind``, ``rank``, ``score``, ``caption``, ``languages``, ``splits``,
            ``key``, ``image_sha256``, ``image``.

        Raises:
            HearsightError: a row is not a query, or nothing matches the parameters; the row is named.
        """
        # The server loads pandas; other users of this module do not need it.
        import pandas as pd

        options = DEFAULTS | {name: value for name, value in (params or {}).items() if value is not None}
        if options["kind"] not in (*KINDS, BOTH):
            raise HearsightError(f"'{options['kind']}' is not a kind", where="kind", hint=f"write {', '.join(KINDS)} or {BOTH}")
        kinds = KINDS if options["kind"] == BOTH else (options["kind"],)
        results = []
        for number, row in enumerate(cast("list[dict[str, Any]]", rows.to_dict("records"))):
            vector = self.searcher.encoder.embed(query_of(row, f"row {number}"))
            near = self.searcher.find(vector, int(options["k"]), kinds, language=options["language"], split=options["split"])
            results += [self._row(number, result, bool(options["images"])) for kind in kinds for result in near[kind]]
        return pd.DataFrame(results)

    def _row(self, number: int, result: SearchResult, images: bool) -> dict[str, Any]:
        item = result.item
        path = self.searcher.folder / item["thumbnail"]
        image = base64.b64encode(path.read_bytes()).decode() if images and item["thumbnail"] and path.is_file() else ""
        captions = dict.fromkeys(caption["caption"] for caption in item["captions"])
        return {
            "query": number, "kind": item["kind"], "rank": result.rank, "score": result.score, "caption": " / ".join(captions),
            "languages": " ".join(item["languages"]), "splits": " ".join(item["splits"]), "key": item["key"],
            "image_sha256": item["image_sha256"], "image": image,
        }  # fmt: skip


def query_of(row: Mapping[str, Any], where: str) -> Query:
    """Return the query of one row.

    Raises:
        HearsightError: the row does not have exactly one of content and path, or it is not a query.
    """
    given = file_of_row(row, where)
    if isinstance(given, str):
        return read_query("./-" if given == "-" else given)
    return parse_query(given, where)


def load(folder: Path) -> ServedSearch:
    """Return the served model in a folder, for MLflow."""
    return ServedSearch(Searcher.open(folder))
