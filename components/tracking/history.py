"""The history of one record: what each stage decided, by which rule and setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from components.core.ledger import DROPPED
from components.core.rule_values import RuleValue, allowed, setting_names
from components.stages import crawl, evaluate_speech, extract_descriptions, hypernymize
from components.stages.filter import cascade
from components.tracking.listings import NOT_DRAWN

RULE_SETTINGS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "crawl": crawl.RULE_SETTINGS,
    "filter": {name: rule.settings for name, rule in cascade.RULES.items()},
    "hypernymize": hypernymize.RULE_SETTINGS,
    "extract_descriptions": extract_descriptions.RULE_SETTINGS,
    "evaluate_speech": evaluate_speech.RULE_SETTINGS,
}
"""Stage → rule → the settings that set its threshold, for the stages that list them."""


@dataclass(frozen=True)
class Event:
    """What one stage decided about a record."""

    output: str
    verdict: str
    rule: str
    value: str
    threshold: str
    detail: str
    facts: dict[str, Any]
    rules: tuple[RuleValue, ...] = ()
    """The rules of the stage in order of evaluation, up to the one that dropped the record."""
    setting: str = ""
    """The settings that set the threshold, "no setting", or '' where the stage lists none."""

    def why(self) -> str:
        """Return why the record was not kept, for a person; '' for a kept one. A failed rule has its own line with the values."""
        if not self.rule:
            return ""
        if any(rule.rule == self.rule and rule.passed is False for rule in self.rules):
            return f" by {self.rule}"
        if self.rule == NOT_DRAWN:
            return f" for the sample ({allowed(self.threshold, self.setting)})"
        return f" by {self.rule}: {self.value} ({allowed(self.threshold, self.setting)})"


@dataclass
class RecordHistory:
    """One key and its events, stage by stage."""

    key: str
    kind: str
    events: list[Event] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"key": self.key, "kind": self.kind, "history": [asdict(event) for event in self.events]}

    def text(self) -> str:
        """Return the history as text for display."""
        lines, shown = [f"{self.kind} {self.key}"], dict[str, Any]()
        for event in self.events:
            lines.append(f"  {event.output}: {event.verdict}{event.why()}{' · ' + event.detail if event.detail else ''}")
            for name, value in event.facts.items():
                if shown.get(name) != value:  # most columns go on unchanged from stage to stage
                    lines += [f"      {name}: {line}" for line in (value if isinstance(value, list) else [value])]
            shown |= event.facts
            lines += [f"      {rule.text()}" for rule in event.rules]
        return "\n".join(lines)


def setting_of(output: str, rule: str) -> str:
    """Return the settings that set the threshold of a rule in an output's ledger; see :attr:`Event.setting`."""
    dataset, _, stage = output.rpartition("/")
    return setting_names(dataset, stage, RULE_SETTINGS.get(stage, {}).get(rule)) if rule else ""


def add_rule_values(
    histories: Sequence[RecordHistory], measured: Mapping[str, Mapping[str, Sequence[RuleValue]]]
) -> list[RecordHistory]:
    """Return the histories with the measured values of the rules added to each stage's event.

    Args:
        histories: of :func:`explain`.
        measured: output (``<dataset>/<stage>``) → key → every rule, in the order of asking
            (``components.stages.filter.measured_values``).
    """

    def with_values(history: RecordHistory, event: Event) -> Event:
        return replace(event, rules=_evaluated(measured.get(event.output, {}).get(history.key, ()), event))

    return [
        RecordHistory(history.key, history.kind, [with_values(history, event) for event in history.events])
        for history in histories
    ]


def _evaluated(values: Sequence[RuleValue], event: Event) -> tuple[RuleValue, ...]:
    """Return the rules up to the one that dropped the record, which gets the value and threshold in the ledger."""
    names = [each.rule for each in values]
    if event.verdict != DROPPED:
        return tuple(values)
    if event.rule not in names:  # a provider gave no answer: the rules that have a value were evaluated
        return tuple(each for each in values if each.passed is not None)
    at = names.index(event.rule)
    failed = replace(values[at], passed=False, value=event.value, threshold=event.threshold, note="")
    return (*values[:at], failed)
