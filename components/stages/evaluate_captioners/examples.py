"""Example pictures of the page, drawn at random, with every model's captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from components.core.seeded_rng import seeded_rng
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.results import Example, ModelCaption
from components.stages.evaluate_captioners.scoring import Scored

if TYPE_CHECKING:
    from components.stages.evaluate_captioners import Params


def networks_trained_on_both(first: str, second: str, cells: Mapping[tuple[str, str], list[str]]) -> list[str]:
    """Return the networks that were trained on both sets."""
    return [network for training, network in cells if training == first and (second, network) in cells]


def draw_examples(
    sets: Sequence[EvaluationSet], models: Sequence[Model], scored: Mapping[tuple[str, str], Scored], params: Params
) -> list[Example]:
    """Draw pictures of each set by their digests, so that sets of the same pictures show the same; each picture once."""
    by_picture = {test_set.name: {item.picture: item for item in test_set.items} for test_set in sets}
    examples: dict[str, Example] = {}
    for test_set in sets:
        positions = {item.picture: at for at, item in enumerate(test_set.items)}
        for picture in shuffle_pictures(list(positions), params.seed)[: params.examples]:
            if picture in examples:
                continue
            captions = {model.name: _caption_at(scored[test_set.name, model.name], positions[picture]) for model in models}
            references = {name: items[picture] for name, items in by_picture.items() if picture in items}
            examples[picture] = Example(by_picture[test_set.name][picture], test_set.name, references, captions)
    return list(examples.values())


def draw_differing_examples(
    first: EvaluationSet,
    second: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    scored: Mapping[tuple[str, str], Scored],
    params: Params,
    most: int = 6,
) -> list[Example]:
    """Draw pictures for which some network's first seeds, trained on either set, write different captions."""
    networks = networks_trained_on_both(first.name, second.name, cells)
    others = {item.picture: item for item in second.items}
    positions = {item.picture: at for at, item in enumerate(first.items)}
    examples: list[Example] = []
    for picture in shuffle_pictures(list(positions), params.seed):
        captions = {
            f"{training}-{network}": _caption_at(scored[first.name, cells[training, network][0]], positions[picture])
            for network in networks
            for training in (first.name, second.name)
        }
        if any(captions[f"{first.name}-{n}"].caption != captions[f"{second.name}-{n}"].caption for n in networks):
            item = first.items[positions[picture]]
            examples.append(Example(item, first.name, {first.name: item, second.name: others[picture]}, captions))
        if len(examples) >= min(most, params.examples):
            break
    return examples[: params.examples]


def shuffle_pictures(pictures: Sequence[str], seed: int) -> list[str]:
    """Return the pictures in a random order that is keyed by picture, so that adding one moves no other."""
    return sorted(pictures, key=lambda picture: (seeded_rng(seed, picture, "example").random(), picture))


def _caption_at(scored: Scored, at: int) -> ModelCaption:
    return ModelCaption(scored.captions[at], scored.things[at])
