"""The alias ``best`` of a registered model: when it moves, what it was before, and how it is moved by hand.

The previous version keeps the alias ``previous-best``. The tag ``hearsight.best`` of a version says why it got the alias or not.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.tracking.record import TAG

if TYPE_CHECKING:
    from mlflow import MlflowClient

BEST, PREVIOUS = "best", "previous-best"
NOTE = f"{TAG}best"


@dataclass(frozen=True)
class Score:
    """A model's selection metric and what it is compared by."""

    validation: float
    spread: float | None
    """Standard deviation of the metric over the seeds of the model's network or row; None with one seed."""
    data: str
    """Digest of the validation data; empty if it is unknown."""

    @classmethod
    def of(cls, model: Mapping[str, Any], models: Sequence[Mapping[str, Any]], data: str) -> Score:
        """Return the score of a row of the MODEL table among those of its output."""
        row = model["key"].rpartition("-")[0]
        seeds = [other["validation"] for other in models if other["key"].rpartition("-")[0] == row]
        return cls(model["validation"], statistics.stdev(seeds) if len(seeds) > 1 else None, data)

    def tags(self) -> dict[str, str]:
        """Return the tags by which :meth:`read` restores the score of a version."""
        spread = "" if self.spread is None else repr(self.spread)
        values = {"validation": repr(self.validation), "validation_spread": spread, "validation_data": self.data}
        return {f"{TAG}{name}": value for name, value in values.items() if value}

    @classmethod
    def read(cls, tags: Mapping[str, str]) -> Score | None:
        """Return the score in a version's tags; None if it has none."""
        value, spread = tags.get(f"{TAG}validation"), tags.get(f"{TAG}validation_spread")
        if not value:
            return None
        return cls(float(value), float(spread) if spread else None, tags.get(f"{TAG}validation_data", ""))


def compare(new: Score, old: Score | None) -> tuple[bool, str]:
    """Return whether a model may take the alias from another, and why.

    Both must be scored on the same validation data, because scores on other data are not comparable. The new score must be higher
    by more than the larger of the two standard deviations over seeds: a smaller difference is what another seed alone can make.
    The larger one is used because the difference has to stand out from either. With one seed on both sides the spread is
    unknown; then any higher score moves the alias, because a project with one seed could otherwise never replace a model, and the
    reason warns of it.
    """
    if old is None or not new.data or new.data != old.data:
        return False, "not comparable: the validation data differ or are unknown"
    change = f"validation {old.validation:.4g} → {new.validation:.4g}"
    spreads = [one for one in (new.spread, old.spread) if one is not None]
    if not spreads:
        warning = "the spread over seeds is unknown, so the difference may be chance: train several seeds"
        return new.validation > old.validation, f"{change}; {warning}"
    spread = max(spreads)
    better = new.validation - old.validation > spread
    return better, f"{change}, {'more' if better else 'not more'} than the spread over seeds, {spread:.4g}, above it"


def offer(client: MlflowClient, name: str, version: str, score: Score) -> str:
    """Move the alias to a new version if :func:`compare` allows it; return why it moved or not.

    The reason is a tag of the version and a line of the log.
    """
    current = client.get_registered_model(name).aliases.get(BEST)
    if current is not None and str(current) == version:
        return ""
    if current is None:
        moves, reason = True, "the first version"
    else:
        moves, reason = compare(score, Score.read(client.get_model_version(name, str(current)).tags))
    if moves:
        move(client, name, version)
    note = f"{'moved to' if moves else 'not moved to'} version {version}: {reason}"
    client.set_model_version_tag(name, version, NOTE, note)
    advice = "" if moves else f"; to use it: hearsight models restore {name} --version {version}"
    print(f"hearsight: {name}@{BEST} {note}{advice}", file=sys.stderr, flush=True)
    return note


def move(client: MlflowClient, name: str, version: str) -> str:
    """Move the alias to a version, keep the previous one, and return that one's number; empty if there was none or the same."""
    old = client.get_registered_model(name).aliases.get(BEST)
    if old is None or str(old) == version:
        client.set_registered_model_alias(name, BEST, version)
        return ""
    client.set_registered_model_alias(name, PREVIOUS, str(old))
    client.set_registered_model_alias(name, BEST, version)
    return str(old)


def restore(client: MlflowClient, name: str, version: str = "") -> dict[str, str]:
    """Move the alias back to the previous version, or to a given one; the replaced one becomes the previous.

    Raises:
        HearsightError: there is no such model or version.
    """
    known = {str(model.name): dict(model.aliases) for model in client.search_registered_models()}
    if name not in known:
        hint = f"known are: {', '.join(sorted(known))}" if known else "run `dvc repro` to train one"
        raise HearsightError("is no registered model", where=name, hint=hint)
    target = version or str(known[name].get(PREVIOUS, ""))
    versions = {str(one.version) for one in client.search_model_versions(f"name = '{name}'")}
    if target not in versions:
        what = f"has no version {target}" if target else f"has no alias {PREVIOUS}, because {BEST} has never moved"
        raise HearsightError(what, where=name, hint=f"give --version, one of {', '.join(sorted(versions, key=int))}")
    replaced = move(client, name, target)
    client.set_model_version_tag(name, target, NOTE, "moved by hand" + (f" from version {replaced}" if replaced else ""))
    return {"model": name, BEST: target, PREVIOUS: replaced or str(known[name].get(PREVIOUS, ""))}


def listed(client: MlflowClient) -> list[dict[str, str]]:
    """Return the versions of all registered models, with their aliases, scores and notes."""
    rows = []
    for model in sorted(client.search_registered_models(), key=lambda model: str(model.name)):
        versions = sorted(client.search_model_versions(f"name = '{model.name}'"), key=lambda one: int(one.version))
        for one in versions:
            rows.append(
                {
                    "model": str(model.name),
                    "version": str(one.version),
                    "aliases": ", ".join(
                        sorted(alias for alias, number in model.aliases.items() if str(number) == str(one.version))
                    ),
                    "key": one.tags.get(f"{TAG}key", ""),
                    "validation": one.tags.get(f"{TAG}validation", ""),
                    "spread": one.tags.get(f"{TAG}validation_spread", ""),
                    "note": one.tags.get(NOTE, ""),
                }
            )
    return rows
