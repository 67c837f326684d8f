"""Files of ratings from other labelling tools: copies with pseudonyms in the place of names.

Ratings of other tools are copied into ``ratings/<dataset>``, with raters' names replaced by pseudonyms: ``csv-`` and 8 hex
digits of a sha256 over the name and a salt, which is drawn once for a project and stays on its machine
(``.hearsight/ratings/salt``). So a rater keeps a pseudonym over several exports of one tool, and nobody without the
salt can test a guessed name. The copy is CSV: nothing else of the file is kept, since exports name people in several places.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes, read_private
from components.core.graph import Graph
from components.ratings.formats import csv

RATINGS, KIND = "import_ratings", "csv"
_SALT = re.compile(r"[0-9a-f]{32}")


def import_file(graph: Graph, dataset: str, file: Path) -> dict[str, object]:
    """Write the ratings of a file to ``ratings/<dataset>/csv-<name>.csv``; an existing copy is replaced.

    Returns:
        The copy's path, and the numbers of ratings and raters.

    Raises:
        HearsightError: the dataset has no ratings in the chain, or the file cannot be read.
    """
    graph.require(RATINGS, dataset)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=file, hint="name a file of ratings") from None
    named = with_pseudonyms(csv.read(data, str(file)), read_salt(graph.root))
    name = re.sub(r"[^a-z0-9]+", "-", file.stem.lower()).strip("-")[:40] or "ratings"
    copy = graph.root / "ratings" / dataset / (f"{name}.csv" if name.startswith(KIND) else f"{KIND}-{name}.csv")
    publish_bytes(copy, csv.write(canonical(named)))
    return {
        "written": str(copy.relative_to(graph.root)),
        "ratings": named.num_rows,
        "raters": pc.count_distinct(named["rater"]).as_py(),
    }


def with_pseudonyms(ratings: pa.Table, salt: str) -> pa.Table:
    """Return the ratings with each rater replaced by ``csv-<8 hex digits>``."""
    raters = ratings["rater"].combine_chunks().dictionary_encode()
    names = ["\n".join((salt, KIND, name)).encode() for name in raters.dictionary.to_pylist()]
    pseudonyms = [f"{KIND}-{sha256_bytes(name)[:8]}" for name in names]
    return ratings.set_column(
        ratings.column_names.index("rater"), "rater", pa.array(pseudonyms, pa.string()).take(raters.indices)
    )


def read_salt(root: Path) -> str:
    """Return the project's salt; the first call draws it.

    Raises:
        HearsightError: the file holds no salt.
    """
    path = root / ".hearsight" / "ratings" / "salt"
    salt = read_private(path, lambda: secrets.token_hex(16))
    if not _SALT.fullmatch(salt):
        raise HearsightError("is not a salt", where=path, hint="restore it; if it is lost, delete it and import all files again")
    return salt


def canonical(ratings: pa.Table) -> pa.Table:
    """Return the columns of a written file, empty ones for those that are missing; query, candidate and rank are the items'."""
    empty = pa.array([""] * ratings.num_rows, pa.string())
    return pa.table({name: ratings[name] if name in ratings.column_names else empty for name in csv.COLUMNS})
