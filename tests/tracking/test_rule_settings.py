"""Every rule names settings that its stage has, or none, so that what explain and try print can be set."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest

from components.core.params import classes_of
from components.core.rule_values import allowed, setting_names
from components.stages.filter import Params
from components.stages.filter.cascade import GROUPS
from components.stages.filter.image_rules import describe_overlap
from components.tools.trial import Trial
from components.tracking.history import RULE_SETTINGS
from components.vision.evidence import Evidence
from components.vision.labels import Label
from tests.support import PROJECT
from tests.support.filter.subjects import PAPER, subject
from tests.support.knowledge.dictionary import EXTRACT

NAMED = [(stage, rule, names) for stage, rules in RULE_SETTINGS.items() for rule, names in rules.items()]


@pytest.mark.parametrize(("stage", "rule", "names"), NAMED, ids=[f"{stage}-{rule}" for stage, rule, _ in NAMED])
def test_each_rule_names_existing_settings_of_its_stage_or_none(stage: str, rule: str, names: tuple[str, ...]) -> None:
    for name in names:
        kinds = [resolve_name(f"components.stages.{stage}:Params")]
        for part in name.split("."):  # of a union one class has it
            fields = [kind.model_fields[part] for kind in kinds if part in kind.model_fields]
            assert fields, name
            kinds = [each for field in fields for each in classes_of(field.annotation)]


def test_each_setting_of_the_filter_but_those_that_name_models_is_a_rules() -> None:
    used = {name for rules in GROUPS.values() for rule in rules for name in rule.settings}
    assert used == set(type(PAPER).model_fields) - {"providers", "image_text", "zero_shot"}


def test_settings_stand_beside_a_threshold_as_params_yaml_names_them() -> None:
    assert setting_names("english", "filter", ("min_zipf",)) == "english.filter.min_zipf"
    assert allowed(">= 2", setting_names("mine", "filter", ["a", "b"])) == "allowed: at least 2, set by mine.filter.a, b"
    assert allowed("x", setting_names("mine", "filter", ())) == "allowed: x, no setting"
    assert allowed("x", setting_names("mine", "crawl", None)) == "allowed: x"


def test_try_names_the_setting_of_a_rule_of_either_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
    short, kept = Trial(PROJECT, "paper").of(["Dog.", "A dog runs on the beach."])
    assert (short["setting"], kept["setting"]) == ("paper.filter.min_words", None)


def test_a_noun_that_is_a_kind_of_a_label_shows_that_labels_confidence() -> None:
    labels = (Label(("ruminant",), 0.4127), Label(("tree",), 0.2))
    deer = subject("A caribou in the snow.", labels=labels, kinds=["caribou < ruminant", "snow < weather"])
    assert (
        describe_overlap(deer, PAPER) == "'caribou' is a kind of 'ruminant' (0.41); 'snow' is a kind of 'weather' (at least 0.1)"
    )
    found = (
        Evidence("woman", 0.68, "person", 0.93, "is a kind of"),
        Evidence("snow", 1.2, "ski", 0.4, "is near"),
        Evidence("dog", -0.3, "collie", 0.01, "includes"),
    )
    assert describe_overlap(subject("A woman in the snow with a dog.", evidence=found), Params()) == (
        "0.527, the mean evidence: 'woman' is a kind of 'person' (0.93; evidence +0.68); 'snow' is near 'ski' (0.40; "
        "evidence +1.20); 'dog' is not recognised (evidence -0.30)"
    )
    both = subject("Two dogs at a tree.", labels=(Label(("hound dog", "dog"), 0.7), *labels, Label(("dogs",), 0.1)))
    assert describe_overlap(both, PAPER) == "'dogs' is the label 'hound dog' (0.70); 'tree' is the label 'tree' (0.20)"
