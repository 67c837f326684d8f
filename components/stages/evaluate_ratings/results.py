"""The results: tables of ratings with the automatic figures of the same captions and queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from components.core.stage_output import StageOutput
from components.ratings.formats.readings import BY_MODEL
from components.ratings.tables.estimates import Counting, Estimate
from components.ratings.tables.models import ModelRow, model_rows
from components.ratings.tables.recall import RecallRow, recall_rows
from components.ratings.tables.shares import ShareRow, is_complete, raters_of, share_rows, table_agreement
from components.ratings.tables.uses import MODEL, RETRIEVAL, Uses, Votes, all_uses, collect_votes
from components.stages.evaluate_ratings import Params

SCORES = ("cider_d", "rouge_l")
"""Columns of GENERATED_CAPTION that stand beside the ratings of a model's captions."""
RECALLS = {1: "known_r_at_1", 5: "known_r_at_5"}


@dataclass(frozen=True)
class RatingResults:
    """All tables of one dataset."""

    dataset: str
    params: Params
    items: int
    ratings: int
    raters: int
    shares: list[ShareRow]
    recalls: list[RecallRow]
    agreement: dict[str, Estimate]
    """Table → Krippendorff's alpha over its items; tables without a defined one are missing."""
    models: list[ModelRow]
    """Ratings by models, which no other figure counts."""
    scores: dict[str, dict[str, float]]
    """Captioner → its mean automatic scores of the captions that count; empty without ``captioners``."""
    all_queries: dict[tuple[str, str], dict[str, float]]
    """(model, direction) → automatic recall over all queries of its test; empty without ``retrieval``."""
    votes: Votes
    uses: Uses

    def judged(self, about: Mapping[str, object]) -> list[ModelRow]:
        """Return the ratings by models of one row, by what ``files.figures_of`` says of it."""
        place = (about["table"], about["source"], about["crop"] or about["direction"])
        return [row for row in self.models if (row.table, row.source, row.place) == place]

    def rows_of(self, table: str) -> list[ShareRow]:
        """Return the rows of one table of shares."""
        return [row for row in self.shares if row.table == table]


def gather(dataset: str, inputs: Mapping[str, StageOutput], params: Params) -> RatingResults:
    """Return the results of the stage's inputs."""
    items = inputs["items"].table(["key", "crop", "raters", "uses"])
    everything = inputs["input"].table(["item", "rater", "verdict", "time", "source"])
    by_model = pc.equal(everything["source"], BY_MODEL)
    ratings = everything.filter(pc.invert(by_model))
    votes, uses = collect_votes(items, ratings), all_uses(items)
    counting = params.counting
    return RatingResults(
        dataset=dataset,
        params=params,
        items=items.num_rows,
        ratings=int(votes.given.sum()),
        raters=pc.count_distinct(ratings["rater"]).as_py(),
        shares=share_rows(votes, uses, counting),
        recalls=recall_rows(votes, uses, counting),
        agreement=table_agreement(votes, uses, counting),
        models=model_rows(items, everything.filter(by_model), votes, uses, counting),
        scores=caption_scores(inputs.get("captioners"), votes, uses.of_table(MODEL), counting, dataset),
        all_queries=recall_of_all_queries(inputs.get("retrieval"), uses.of_table(RETRIEVAL), params.crop),
        votes=votes,
        uses=uses,
    )


def caption_scores(
    output: StageOutput | None, votes: Votes, uses: Uses, counting: Counting, dataset: str
) -> dict[str, dict[str, float]]:
    """Return the mean scores of each model's captions that count, against the references of the test set ``dataset``.

    Where the captions were not tested on that set, the first test set that has them is taken.
    """
    if output is None or not len(uses):
        return {}
    table = output.table(["key", "test", "model", *SCORES])
    raters, means = raters_of(votes, uses, counting), {}
    for (source,), group in uses.groups("source"):
        counted = is_complete(votes.count(group.items, raters)[0], raters, counting)
        rated = group.columns["query"].filter(pa.array(counted)).combine_chunks()
        chosen = table.filter(pc.and_(pc.equal(table["model"], source), pc.is_in(table["key"], value_set=rated)))
        if not chosen.num_rows:
            continue
        tests = sorted(pc.unique(chosen["test"]).to_pylist(), key=lambda test: (test != dataset, test))
        chosen = chosen.filter(pc.equal(chosen["test"], tests[0]))
        means[source] = {name: float(pc.mean(chosen[name]).as_py()) for name in SCORES}
    return means


def recall_of_all_queries(output: StageOutput | None, uses: Uses, crop: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return each rated model's recall of known pairs over all its queries, on a crop of the images."""
    if output is None or not len(uses):
        return {}
    table = output.table(["query", "direction", "model", "crop", "rank"])
    found = {}
    for (source, direction), _ in uses.groups("source", "direction"):
        rows = table
        for name, value in (("model", source), ("direction", direction), ("crop", crop)):
            rows = rows.filter(pc.equal(rows[name], value))
        if rows.num_rows:
            query = rows["query"].combine_chunks().dictionary_encode().indices.to_numpy()
            ranks, rounds = rows["rank"].to_numpy(), np.bincount(query)
            found[source, direction] = {
                name: float((np.bincount(query, weights=ranks <= depth) / rounds).mean()) for depth, name in RECALLS.items()
            }
    return found
