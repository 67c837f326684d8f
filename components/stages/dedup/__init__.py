"""dedup: posts said twice are kept once, and pictures that show the same thing share a group.

Duplicate posts are those of PCV, definitions 1 to 3: pictures and captions both close, connected components, one
representative each. A picture of a group with another caption stays, as another reference; the same
words said again in one group are dropped. A split never parts a group.
In: ``input`` the CAPTION records, ``media`` the pictures. Out: GROUPED records, and as ``duplicates.csv`` what other thresholds
would do.
Not in scope: clusters of features (``cluster``), posts that an owner's side of the split already has (``split``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from components.core.errors import HearsightError
from components.core.params import Settings

if TYPE_CHECKING:
    from components.execution.stage import Stage


class Aligned(Settings):
    """When two pictures, one laid upon the other, show the same."""

    whole_from: float
    """Correlation of the whole pictures, in any turn or mirroring, from which they are the same."""
    cosine_from: float
    """Cosine of their features from which a part of one is laid upon the other too."""
    cosine_weight: float
    """How much that cosine counts beside the correlation."""
    score_from: float
    """``cosine_weight`` · cosine + correlation from which they are the same."""


class Posts(Settings):
    """When two posts are duplicates."""

    image_distance: float
    """Greatest cosine distance of the pictures' features (definition 1)."""
    caption_distance: float
    """Greatest cosine distance of the captions' TF-IDF vectors (definition 2); below 1."""
    languages: list[str]
    """ISO 639-1: whose stop words are left out, and whose word frequencies give the idf."""
    idf: Literal["language", "corpus"]
    """From the frequency of words in the language at large, or among the captions at hand, as the paper."""
    grid: list[float]
    """Thresholds tried with one another for ``duplicates.csv``."""


class Params(Settings):
    """Settings of dedup."""

    signal: Literal["phash", "aligned"]
    """What tells that two pictures show the same: perceptual hashes, or features and alignment."""
    max_distance: int
    """phash: bits of 64 up to which two perceptual hashes are of the same picture."""
    aligned: Aligned
    """aligned: its thresholds."""
    posts: Posts | None
    """When posts are duplicates; null leaves them, but for the same words said again in one group."""


def run(stage: Stage) -> None:
    """Group by picture, find duplicate posts, and write each shard with what stays."""
    from components.stages.dedup.grid import GRID, as_csv, summary, swept
    from components.stages.dedup.near import Duplicates, prepare_pictures, same_pictures
    from components.stages.dedup.records import Records
    from components.stages.dedup.verdicts import decide, ledgers

    params: Params = stage.params
    _check(params)
    records = Records.read(stage.inputs["input"])
    pictures = duplicates = None
    if params.posts is not None or params.signal == "aligned":
        pictures = prepare_pictures(stage, records)
    if params.posts is not None and pictures is not None:
        duplicates = Duplicates(records, pictures, params.posts)
    unreadable = pictures.unreadable if pictures is not None else {}
    outcome = decide(records, same_pictures(stage, records, pictures), duplicates, params, unreadable)
    for name, table, ledger in ledgers(records, outcome, duplicates, params):
        stage.write_shard(name, table, ledger)
    lines = [
        summary("as run", "", "", outcome.winner),
        *swept(duplicates, len(records), params.posts.grid if params.posts else []),
    ]
    stage.export(GRID, as_csv(lines))
    stage.metric("groups", len(set(outcome.group.tolist())))
    stage.metric("dropped", lines[0]["dropped"])


def _check(params: Params) -> None:
    posts = params.posts
    distances: list[tuple[str, float]] = []
    if posts is not None:
        distances = [("image_distance", posts.image_distance), ("caption_distance", posts.caption_distance)]
        distances += [("grid", value) for value in posts.grid]
    for name, value in distances:
        if not 0 <= value < 1:
            raise HearsightError(
                f"a distance of {value} is not in [0, 1)", where=f"dedup.posts.{name}", hint="the paper takes .1"
            )
    if not 0 <= params.max_distance <= 64:
        raise HearsightError("is not from 0 to 64", where="dedup.max_distance", hint="give bits, 6 say")
