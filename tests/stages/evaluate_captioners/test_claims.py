"""Claims about networks have verdicts by paired differences, and name what was not trained."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from components.reporting.verdicts import FAILS, HOLDS, UNDECIDED, UNMEASURED
from components.stages.evaluate_captioners import Params, tables
from components.stages.evaluate_captioners.claims import applicable_claims
from components.stages.evaluate_captioners.gathering import gather
from components.stages.evaluate_captioners.inputs import EvaluationSet, Item, Model
from components.stages.evaluate_captioners.results import CaptionerResults
from components.stages.evaluate_captioners.scoring import MAIN, ObjectMentions, Scored, Scores

IMAGES = 60
NETWORKS = ("rnn1x1", "rnn8x8", "t2t1x1", "t2t8x8", "aoanet")


def results(levels: dict[str, tuple[float, ...]]) -> CaptionerResults:
    """The results on one set of networks whose seeds score at these levels, with the same difficulty of each image."""
    items = [Item(f"k{n}", f"i{n}", "", "", "en", ["a dog"], [["a", "dog"]], []) for n in range(IMAGES)]
    difficulty = np.random.default_rng(0).normal(0, 1.0, IMAGES)
    models, scored = [], {}
    for network, seeds in levels.items():
        for seed, level in enumerate(seeds):
            model = Model("pets", network, seed, [{}], "")
            noise = np.random.default_rng([seed, NETWORKS.index(network)]).normal(0, 0.1, IMAGES)
            values = (difficulty + level + noise - noise.mean()).tolist()
            models.append(model)
            scores = Scores({MAIN: math.fsum(values) / IMAGES}, {MAIN: values})
            scored["pets", model.name] = Scored(["a dog"] * IMAGES, scores, [ObjectMentions(None, [], [])] * IMAGES)
    test_set = EvaluationSet("pets", "pets", "", items, {})
    return gather("captioners", [test_set], models, scored, {}, Params(resamples=200, examples=0), {})


def verdicts(levels: dict[str, tuple[float, ...]]) -> list[str]:
    return [finding.verdict for finding in results(levels).tables[0].findings]


@pytest.mark.parametrize(
    ("aoanet", "expected"), [((3.0, 3.1), HOLDS), ((0.0, 0.1), FAILS), ((2.2, 1.8), UNDECIDED), ((2.2, 3.0), HOLDS)]
)
def test_a_verdict_needs_the_interval_and_every_seed(aoanet: tuple[float, ...], expected: str) -> None:
    levels = {"rnn1x1": (1.0, 1.1), "rnn8x8": (1.4, 1.5), "t2t1x1": (1.6, 1.5), "t2t8x8": (2.0, 2.1), "aoanet": aoanet}
    assert verdicts(levels) == [HOLDS, HOLDS, HOLDS, expected]


def test_differences_are_paired_by_image_so_that_a_small_one_is_seen_among_images_that_differ_more() -> None:
    found = results({"rnn1x1": (1.0, 1.1), "t2t1x1": (1.1, 1.2)}).tables[0]
    (contrast,) = found.findings[0].judged
    assert contrast.difference.mean == pytest.approx(0.1) and contrast.difference.low > 0.05
    assert contrast.difference.seeds == pytest.approx((0.1, 0.1))
    overlapping = [row.values[MAIN] for row in found.rows]
    assert overlapping[0].high > overlapping[1].low


def test_what_was_not_trained_is_named_and_measured_by_nobody() -> None:
    table = results({"rnn1x1": (1.0,), "t2t8x8": (2.0,)}).tables[0]
    assert [finding.verdict for finding in table.findings] == [UNMEASURED] * 3
    assert table.findings[1].claim.needs == ("rnn8x8", "t2t1x1")


def test_sets_are_compared_on_a_set_that_one_of_them_is_and_only_networks_trained_on_both() -> None:
    cells = {("pets", "rnn1x1"): ["a"], ("coco", "rnn1x1"): ["b"], ("coco", "rnn8x8"): ["c"]}
    assert applicable_claims("pets", cells)[-1].pairs == (("pets-rnn1x1", "coco-rnn1x1"),)
    assert [claim.pairs for claim in applicable_claims("flickr30k", cells)] == [()] * 3


@pytest.mark.parametrize(("language", "compared"), [("en", True), ("pt", False)])
def test_networks_of_two_training_sets_are_compared_only_if_they_write_one_language(language: str, compared: bool) -> None:
    sets, models, scored = [], [], {}
    for name, of in (("pets", "en"), ("other", language)):
        items = [Item(f"{name}{n}", f"{name}{n}", "", "", of, ["a dog"], [["a", "dog"]], []) for n in range(IMAGES)]
        sets.append(EvaluationSet(name, name, "", items, {}))
        models.append(Model(name, "rnn1x1", 0, [{}], ""))
    for test_set in sets:
        for model in models:
            values = [float(model.training == test_set.name)] * IMAGES
            scores = Scores({MAIN: math.fsum(values) / IMAGES}, {MAIN: values})
            scored[test_set.name, model.name] = Scored(["a dog"] * IMAGES, scores, [ObjectMentions(None, [], [])] * IMAGES)
    tables_of = gather("captioners", sets, models, scored, {}, Params(resamples=50, examples=0), {}).tables
    assert [any("another set" in found.claim.says for found in table.findings) for table in tables_of] == [compared] * 2


def test_the_files_have_every_claim_and_the_text_those_that_were_measured() -> None:
    found = results({"rnn1x1": (1.0,), "t2t1x1": (1.5,)})
    claims = json.loads(tables.scores_json(found))["pets"]["claims"]
    assert [claim["verdict"] for claim in claims] == [HOLDS, UNMEASURED, UNMEASURED]
    assert claims[0]["measured"][0]["contrast"] == "pets-t2t1x1 less pets-rnn1x1" and claims[0]["measured"][0]["seeds"] == [0.5]
    summary = tables.render_summary(found)
    assert "  holds           A Transformer is better than an LSTM" in summary and "+0.500 (" in summary
    assert "grid" not in summary
