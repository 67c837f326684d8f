"""The index and its model as MLflow serves them: a sound or a picture in, ranked pictures and captions out.

One row in: ``content``, a file's bytes (base64 in a JSON request), or ``path``, a file that the server can read. Several rows out
for it, one a result. Nothing is pickled: what is loaded is the folder ``search/`` as the stage wrote it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.retrieval.queries import Query, parse_query, read_query
from components.retrieval.searcher import KINDS, Searcher

if TYPE_CHECKING:
    import pandas as pd

BOTH = "both"
DEFAULTS: dict[str, Any] = {"k": 5, "kind": BOTH, "language": "", "split": "", "pictures": False}
"""Parameters of a prediction; ``pictures``: small pictures with the results, base64."""


class ServedSearch:
    """Sounds and pictures → what is near them."""

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher

    def predict(self, rows: pd.DataFrame, params: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """The nearest of each query, in one table.

        Args:
            rows: with a column ``content`` (bytes, or their base64) or ``path``, or both, of which each row has one.
            params: some of :data:`DEFAULTS`.

        Returns:
            ``query`` (the row it answers, from 0), ``kind``, ``rank``, ``score``, ``caption``, ``languages``, ``splits``,
            ``key``, ``image_sha256``, ``picture``.

        Raises:
            HearsightError: a row is no query, or the parameters leave nothing; which row is named.
        """
        import pandas as pd

        asked = DEFAULTS | {name: value for name, value in (params or {}).items() if value is not None}
        if asked["kind"] not in (*KINDS, BOTH):
            raise HearsightError(f"'{asked['kind']}' is no kind", where="kind", hint=f"write {', '.join(KINDS)} or {BOTH}")
        kinds = KINDS if asked["kind"] == BOTH else (asked["kind"],)
        found = []
        for number, row in enumerate(rows.to_dict("records")):
            vector = self.searcher.encoder.embed(query_of(row, f"row {number}"))
            near = self.searcher.find(vector, int(asked["k"]), kinds, language=asked["language"], split=asked["split"])
            found += [self._told(number, each, bool(asked["pictures"])) for kind in kinds for each in near[kind]]
        return pd.DataFrame(found)

    def _told(self, number: int, each: Any, pictures: bool) -> dict[str, Any]:
        item = each.item
        path = self.searcher.folder / item["thumbnail"]
        picture = base64.b64encode(path.read_bytes()).decode() if pictures and item["thumbnail"] and path.is_file() else ""
        captions = dict.fromkeys(told["caption"] for told in item["captions"])
        return {
            "query": number, "kind": item["kind"], "rank": each.rank, "score": each.score, "caption": " / ".join(captions),
            "languages": " ".join(item["languages"]), "splits": " ".join(item["splits"]), "key": item["key"],
            "image_sha256": item["image_sha256"], "picture": picture,
        }  # fmt: skip


def query_of(row: Mapping[str, Any], where: str) -> Query:
    """The query of one row.

    Raises:
        HearsightError: it has neither content nor path, or both, or what it has is no query.
    """
    given = {name: row[name] for name in ("content", "path") if _there(row.get(name))}
    if len(given) != 1:
        what = "has both content and path" if given else "has neither content nor path"
        raise HearsightError(what, where=where, hint="give a file's bytes (base64 in JSON) as content, or a path")
    if "path" in given:
        return read_query(f"./{given['path']}" if given["path"] == "-" else str(given["path"]))
    content = given["content"]
    if isinstance(content, str):
        try:
            content = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError) as error:
            raise HearsightError(f"its content is no base64 ({error})", where=where, hint="encode the file's bytes") from None
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise HearsightError(f"its content is of {type(content).__name__}", where=where, hint="give bytes, or their base64")
    return parse_query(bytes(content), where)


def _there(value: Any) -> bool:
    """Whether a table's cell holds something; what is missing comes as None or as not a number."""
    return value is not None and not (isinstance(value, float) and value != value) and value != "" and value != b""


def load(folder: Path) -> ServedSearch:
    """What MLflow loads: the folder, opened."""
    return ServedSearch(Searcher.open(folder))
