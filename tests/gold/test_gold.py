"""The pipeline agrees with the gold set as often as docs/quality.md says, leaks nothing, and writes grammatically.

Slow: the whole dictionary is needed (``hearsight data --dictionary``), which the other tests do without.
"""

from __future__ import annotations

import pytest

from components.language.wordnet import wordnet_folder
from components.tools.trial import Trial
from tests.gold.grammar import faults
from tests.gold.judging import FOLDER, HALVES, Judgement, cases, judge, shares
from tests.support import PROJECT


@pytest.fixture(scope="module", params=[half for half in HALVES if (FOLDER / f"{half}.jsonl").exists()])
def judged(request: pytest.FixtureRequest) -> list[Judgement]:
    if not (wordnet_folder(PROJECT) / "data.adj").is_file():
        pytest.skip("the dictionary is not here: `hearsight data --dictionary`")
    return judge(Trial(PROJECT, "paper"), request.param)


@pytest.mark.slow
def test_verdicts_and_captions_equal_the_gold_ones_without_private_names(judged: list[Judgement]) -> None:
    result = shares(judged)
    blind = any("why" in each.case for each in judged)  # labelled without the rules: the shares of docs/quality.md
    # A phrase cut with its name is missing in captions that the labellers wrote, so of more kept captions fewer equal theirs.
    least_right, least_acceptable, most_leaks = (0.89, 0.80, 3) if blind else (0.94, 0.90, 0)
    for measure, least in (("verdict as expected", least_right), ("caption acceptable, of those rightly kept", least_acceptable)):
        right, count = result[measure]
        assert right / count >= least, (measure, right, count)
    assert len([each.leaks for each in judged if each.leaks]) <= most_leaks


@pytest.mark.slow
def test_captions_are_grammatical(judged: list[Judgement]) -> None:
    captions = [each.result["caption"] for each in judged if each.result["caption"]]
    assert [(caption, faults(caption)) for caption in captions if faults(caption)] == []


@pytest.mark.parametrize("half", [half for half in HALVES if (FOLDER / f"{half}.jsonl").exists()])
def test_the_cases_are_well_formed_and_accept_no_private_name(half: str) -> None:
    result = cases(half)
    assert len({case["id"] for case in result}) == len(result)
    for case in result:
        assert case["alt"] and (case["captions"] if case["verdict"] == "kept" else case.get("rules") or case["why"])
        for caption in case.get("captions", ()):
            assert not Judgement(case, {"caption": caption, "verdict": "kept", "rule": None}).leaks, case["id"]


@pytest.mark.parametrize(
    "caption", ["people at the a house", "a dog of", "a actors on a stage", "a dog on on a beach", "a dog , a cat", "dogs of."]
)
def test_the_grammar_check_detects_faults(caption: str) -> None:
    assert faults(caption) and not faults("an actor and a series of dresses, lifted off the ground in a glass bus.")
