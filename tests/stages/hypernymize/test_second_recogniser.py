"""A second recogniser of names is a signal for a kind or cancels the parser's; without a model the rewriting is as before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.hub.model import HubModel, find_model
from components.stages import hypernymize
from components.stages.hypernymize.run import run as run_hypernymize
from components.stages.hypernymize.second_recogniser import align_names, second_opinion
from components.stages.hypernymize.sentence import Entity, Sentence
from components.tools.trial import Trial
from tests.support import WORKERS, make_output, make_stage, row
from tests.support.hub import make_clip
from tests.support.hub.two_towers import make_recogniser
from tests.support.knowledge.dictionary import EXTRACT
from tests.support.settings_files import copy_settings, edit_settings

ALONE = "A dog licks Breitner on the beach"  # a person by the parser alone
TWO = "Zqxwv Vrolk sleeps beside a dog"  # a person by the parser and the form
MORE = "Ann Lee sits beside a dog"  # and by a list of names and the verb
SAID = {"Breitner": "I-PER", "Zqxwv": "B-PER", "Vrolk": "I-PER", "Ann": "B-PER", "Lee": "I-PER"}
WRONG = {piece: label.replace("PER", "ORG") for piece, label in SAID.items()}
OTHER = {piece: label.replace("PER", "MISC") for piece, label in SAID.items()}


@pytest.fixture(autouse=True)
def dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))


def run(root: Path, said: dict[str, str] | None, *texts: str, **how: object) -> tuple[dict[str, str], Stage]:
    """Text → its caption, of those that are kept; and the job."""
    shutil.rmtree(root / "data", ignore_errors=True)
    names = HubModel()
    if said is not None:
        make_recogniser(root / "names", said, ("O", *sorted(set(said.values()))))
        names = HubModel(model="names")
    rows = [[row("filter", key=f"{at}", text=text, alt=text) for at, text in enumerate(texts)]]
    inputs = {"input": make_output(root, "filter", rows)}
    params = hypernymize.Params(names=names, min_concept_count=1)
    job = make_stage(root, "hypernymize", params=params, inputs=inputs, **how)
    run_hypernymize(job)
    job.finish()
    return {each["text"]: each["caption"] for each in StageOutput(job.out).table().to_pylist()}, job


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (None, {TWO, MORE}),
        ({"Unseen": "B-PER"}, {TWO, MORE}),  # it sees no name: the parser's signals as before
        (SAID, {ALONE, TWO, MORE}),  # the second signal that was missing
        (WRONG, {MORE}),  # both disagree: the others decide, and one is too few
        (OTHER, {MORE}),  # MISC is no person
    ],
)
def test_it_confirms_a_kind_or_cancels_the_parsers(tmp_path: Path, said: dict[str, str] | None, kept: set[str]) -> None:
    captions, _ = run(tmp_path, said, ALONE, TWO, MORE)
    whole = {ALONE: "a dog licks person on the beach", TWO: "person sleeps beside a dog", MORE: "person sits beside a dog"}
    assert captions == {text: caption for text, caption in whole.items() if text in kept}


def test_the_signals_of_a_doubt_name_it_and_the_model_is_a_parent(tmp_path: Path) -> None:
    _, job = run(tmp_path, WRONG, TWO)
    (entry,) = StageOutput(job.out).ledger().to_pylist()
    assert (entry["rule"], entry["value"]) == ("unknown_name", "vrolk (form)")
    assert job.parents == [{"name": "model of names", "digest": find_model(tmp_path, "names").digest}]


def test_each_text_is_read_once_by_each_model_and_not_at_all_without(tmp_path: Path) -> None:
    run(tmp_path, None, TWO)
    folder = tmp_path / ".hearsight" / "annotations"
    assert not list(folder.glob("names.hub*"))
    for said, count in ((SAID, 1), (SAID, 1), (WRONG, 2)):
        _, job = run(tmp_path, said, TWO, engine=WORKERS)
        assert len(list(folder.glob("names.hub*.sqlite"))) == count
    _, job = run(tmp_path, WRONG, TWO)
    assert job.cache_summary()["rewrite"] == "1 of 1"


def test_a_model_of_another_kind_is_one_line(tmp_path: Path) -> None:
    make_clip(tmp_path / "names")
    with pytest.raises(HearsightError, match="cannot be loaded as AutoModelForTokenClassification"):
        inputs = {"input": make_output(tmp_path, "filter", [[row("filter", key="a", text=TWO, alt=TWO)]])}
        params = hypernymize.Params(names=HubModel(model="names"))
        run_hypernymize(make_stage(tmp_path, "hypernymize", params=params, inputs=inputs))


def test_try_asks_it_too(tmp_path: Path) -> None:
    copy_settings(tmp_path)
    make_recogniser(tmp_path / "names", SAID, ("O", *sorted(set(SAID.values()))))

    def name(content: dict) -> None:
        content["english"]["hypernymize"] = {"names": {"model": "names"}}
        content["english"]["filter"] = {"min_description": 0.0}

    edit_settings(tmp_path, name)
    (found,) = Trial(tmp_path, "english").of(["A portrait of a dog that licks Breitner on the beach"])
    assert found["rule"] != "unknown_name" and "breitner" not in (found["caption"] or "").lower()


def test_names_take_the_words_that_they_cover() -> None:
    text = "In New  York, Zq-x"
    words = ["In", "New", " ", "York", ",", "Zq", "-", "x"]
    named = [(3, 12, "LOC", 0.9), (14, 18, "per", 0.9), (0, 2, "DATE", 0.9), (14, 18, "ORG", 0.4)]
    assert align_names(words, text, named) == [Entity(1, 4, "LOC"), Entity(5, 8, "PER")]
    assert align_names(["In", "??", "York"], text, [(8, 12, "LOC", 0.9)]) == [Entity(2, 3, "LOC")]


@pytest.mark.parametrize(
    ("label", "kind", "opinion"),
    [("LOC", "GPE", True), ("FAC", "LOC", True), ("PER", "PERSON", True), ("MISC", "EVENT", None), ("MISC", "ORG", False),
     ("NORP", "NORP", True), ("ORG", "PERSON", False), ("ORGANIZATION", "ORG", True), ("WORK_OF_ART", "EVENT", False)],
)  # fmt: skip
def test_conlls_and_ontonotes_labels_are_compared_with_a_kind(label: str, kind: str, opinion: bool | None) -> None:
    sentence = Sentence([], names=[Entity(0, 1, "PER"), Entity(2, 5, label)])
    assert second_opinion(sentence, Entity(1, 4, kind)) is opinion
    assert second_opinion(sentence, Entity(1, 2, kind)) is None
