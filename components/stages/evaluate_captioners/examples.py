"""Which pictures a page shows, and what each model writes for them: drawn by chance, not chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from components.core.seeded_rng import seeded_rng
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.results import Example, Said
from components.stages.evaluate_captioners.scoring import Scored

if TYPE_CHECKING:
    from components.stages.evaluate_captioners import Params


def networks_of(first: str, second: str, cells: Mapping[tuple[str, str], list[str]]) -> list[str]:
    """Return the networks that learned from both sets."""
    return [network for training, network in cells if training == first and (second, network) in cells]


def examples_of(
    sets: Sequence[EvaluationSet], models: Sequence[Model], scored: Mapping[tuple[str, str], Scored], params: Params
) -> list[Example]:
    """Pictures of each set, drawn by what they are, so that sets of the same pictures show the same; each once."""
    by_picture = {found.name: {item.picture: item for item in found.items} for found in sets}
    examples: dict[str, Example] = {}
    for found in sets:
        places = {item.picture: at for at, item in enumerate(found.items)}
        for picture in drawn(list(places), params.seed)[: params.examples]:
            if picture in examples:
                continue
            said = {model.name: _said(scored[found.name, model.name], places[picture]) for model in models}
            references = {name: items[picture] for name, items in by_picture.items() if picture in items}
            examples[picture] = Example(by_picture[found.name][picture], found.name, references, said)
    return list(examples.values())


def differing_examples(
    first: EvaluationSet,
    second: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    scored: Mapping[tuple[str, str], Scored],
    params: Params,
    most: int = 6,
) -> list[Example]:
    """Drawn pictures of which the first seeds of a network say different things, learned from the one and from the other."""
    networks = networks_of(first.name, second.name, cells)
    others = {item.picture: item for item in second.items}
    places = {item.picture: at for at, item in enumerate(first.items)}
    examples: list[Example] = []
    for picture in drawn(list(places), params.seed):
        said = {
            f"{training}-{network}": _said(scored[first.name, cells[training, network][0]], places[picture])
            for network in networks
            for training in (first.name, second.name)
        }
        if any(said[f"{first.name}-{each}"].caption != said[f"{second.name}-{each}"].caption for each in networks):
            item = first.items[places[picture]]
            examples.append(Example(item, first.name, {first.name: item, second.name: others[picture]}, said))
        if len(examples) >= min(most, params.examples):
            break
    return examples[: params.examples]


def drawn(pictures: Sequence[str], seed: int) -> list[str]:
    """Pictures in an order that chance gives each by itself: one more or less moves none of the others."""
    return sorted(pictures, key=lambda picture: (seeded_rng(seed, picture, "example").random(), picture))


def _said(scored: Scored, at: int) -> Said:
    return Said(scored.captions[at], scored.things[at])
