"""Aggregation of caption scores into tables: values with intervals, contrasts of wordings, random examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from components.core.seeded_rng import seeded_rng
from components.metrics.bootstrap import bootstrap_intervals
from components.metrics.caption_lengths import CaptionStatistics
from components.metrics.hallucination import hallucination_rates
from components.reporting.values import Contrast, Value
from components.reporting.verdicts import Finding
from components.stages.evaluate_captioners import Params
from components.stages.evaluate_captioners.claims import CaptionerClaim, applicable_claims
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.results import CaptionerResults, Example, ModelCaption, Pair, Row, Table, Writing
from components.stages.evaluate_captioners.scoring import MAIN, METRICS, Scored, find_language_gaps, mean


def gather(
    dataset: str,
    sets: Sequence[EvaluationSet],
    models: Sequence[Model],
    scored: Mapping[tuple[str, str], Scored],
    constants: Mapping[str, Scored],
    params: Params,
    weights: dict[str, float],
) -> CaptionerResults:
    """Return all results; ``scored`` maps (test set, model) to scores, ``weights`` models with reranking to the consensus's."""
    cells: dict[tuple[str, str], list[str]] = {}
    for model in models:
        cells.setdefault((model.training, model.network), []).append(model.name)
    pairs = _pairs(sets, cells)
    claims = {test_set.name: _claims(test_set, sets, cells) for test_set in sets}
    interval_ends = {
        test_set.name: _intervals(test_set, cells, pairs, scored, constants, claims[test_set.name], params) for test_set in sets
    }
    tables = [
        _table(test_set, cells, scored, constants, claims[test_set.name], interval_ends[test_set.name], params)
        for test_set in sets
    ]
    by_name = {table.name: table for table in tables}
    return CaptionerResults(
        dataset,
        list(dict.fromkeys(model.training for model in models)),
        list(dict.fromkeys(model.network for model in models)),
        cells,
        tables,
        [
            Pair(
                first.name,
                second.name,
                _contrasts(first.name, second.name, by_name, interval_ends),
                draw_differing_examples(first, second, cells, scored, params),
            )
            for first, second in pairs
        ],
        draw_examples(sets, models, scored, params),
        params.beam,
        params.resamples,
        {model.name: model for model in models if model.trained},
        weights,
    )


def _claims(
    test_set: EvaluationSet, sets: Sequence[EvaluationSet], cells: Mapping[tuple[str, str], list[str]]
) -> list[CaptionerClaim]:
    """Return the claims about a test set; networks that write another language are not compared with those that write its own."""
    languages = {one.name: one.language for one in sets}
    comparable = {cell: names for cell, names in cells.items() if languages.get(cell[0], test_set.language) == test_set.language}
    return applicable_claims(test_set.name, comparable)


def _items_of(test: str, names: Sequence[str], scored: Mapping[tuple[str, str], Scored]) -> dict[str, list[float]]:
    """Return metric → each item's value, averaged over the seeds."""
    by_seed = [scored[test, name].scores.items for name in names]
    return {metric: [mean(values) for values in zip(*(seed[metric] for seed in by_seed), strict=True)] for metric in by_seed[0]}


def _intervals(
    test_set: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    pairs: Sequence[tuple[EvaluationSet, EvaluationSet]],
    scored: Mapping[tuple[str, str], Scored],
    constants: Mapping[str, Scored],
    claims: Sequence[CaptionerClaim],
    params: Params,
) -> dict[str, tuple[float, float]]:
    """Return interval ends by ``<cell> <metric>``, `` <metric>`` (constant), ``<first> <second> <network>``,
    ``<cell> less <cell>``; a cell is ``<training>-<network>``.
    """
    columns: dict[str, Sequence[float]] = {}
    for (training, network), names in cells.items():
        for metric, values in _items_of(test_set.name, names, scored).items():
            columns[f"{training}-{network} {metric}"] = values
    if test_set.name in constants:
        columns |= {f" {metric}": values for metric, values in constants[test_set.name].scores.items.items()}
    for first, second in pairs:
        if test_set.name in (first.name, second.name):
            for network in networks_trained_on_both(first.name, second.name, cells):
                difference = _less(columns, f"{first.name}-{network}", f"{second.name}-{network}")
                columns[f"{first.name} {second.name} {network}"] = difference
    for claim in claims:
        columns |= {f"{one} less {other}": _less(columns, one, other) for one, other in claim.pairs}
    return bootstrap_intervals(columns, seed=params.seed, resamples=params.resamples)


def _less(columns: Mapping[str, Sequence[float]], one: str, other: str) -> list[float]:
    return [a - b for a, b in zip(columns[f"{one} {MAIN}"], columns[f"{other} {MAIN}"], strict=True)]


def _table(
    test_set: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    scored: Mapping[tuple[str, str], Scored],
    constants: Mapping[str, Scored],
    claims: Sequence[CaptionerClaim],
    interval_ends: Mapping[str, tuple[float, float]],
    params: Params,
) -> Table:
    rows = []
    for (training, network), names in cells.items():
        seeds = {name: scored[test_set.name, name].scores.corpus for name in names}
        values = {
            metric: value_of([corpus[metric] for corpus in seeds.values()], interval_ends.get(f"{training}-{network} {metric}"))
            for metric in METRICS
            if all(metric in corpus for corpus in seeds.values())
        }
        rows.append(Row(training, network, seeds, values, measure_writing([scored[test_set.name, name] for name in names])))
    constant = None
    if test_set.name in constants:
        corpus = constants[test_set.name].scores.corpus
        values = {metric: value_of([corpus[metric]], interval_ends.get(f" {metric}")) for metric in METRICS if metric in corpus}
        constant = (constants[test_set.name].captions[0], values)
    return Table(
        test_set.name,
        test_set.language,
        str(test_set.settings.get("wording", "")),
        len(test_set.items),
        test_set.references,
        Writing(measure_lengths(text for item in test_set.items for text in item.references)),
        rows,
        constant,
        list(find_language_gaps(test_set.items, params.meteor, params.spice).values()),
        [_judge(claim, test_set.name, rows, interval_ends) for claim in claims],
    )


def _judge(
    claim: CaptionerClaim, test: str, rows: Sequence[Row], interval_ends: Mapping[str, tuple[float, float]]
) -> Finding[CaptionerClaim]:
    named = {row.name: row for row in rows}
    judged = []
    for one, other in claim.pairs:
        a, b = named[one].values[MAIN], named[other].values[MAIN]
        # Models are paired by the number of their seed.
        others = {model.rpartition("-")[2]: scores[MAIN] for model, scores in named[other].seeds.items()}
        numbered = [(model.rpartition("-")[2], scores[MAIN]) for model, scores in named[one].seeds.items()]
        seeds = tuple(score - others[seed] for seed, score in numbered if seed in others)
        title = f"{one} less {other}"
        judged.append(Contrast(title, test, Value(a.mean - b.mean, *interval_ends[title], seeds), a, b))
    return Finding(claim, tuple(judged))


def value_of(values: Sequence[float], ends: tuple[float, float] | None) -> Value:
    """Return the mean of a metric over seeds, with its interval where it has one."""
    low, high = ends or (None, None)
    return Value(mean(values), low, high, tuple(values))


def _pairs(
    sets: Sequence[EvaluationSet], cells: Mapping[tuple[str, str], list[str]]
) -> list[tuple[EvaluationSet, EvaluationSet]]:
    """Return the pairs of sets that hold the same images and on both of which some network was trained."""
    pairs = []
    for at, first in enumerate(sets):
        images = {item.image for item in first.items}
        for second in sets[at + 1 :]:
            if images == {item.image for item in second.items} and networks_trained_on_both(first.name, second.name, cells):
                pairs.append((first, second))
    return pairs


def _contrasts(
    first: str, second: str, tables: Mapping[str, Table], interval_ends: Mapping[str, Mapping[str, tuple[float, float]]]
) -> list[Contrast]:
    """Return the main metric's contrast of each network trained on both wordings, on either set; the title is the network."""
    contrasts = []
    for row in tables[first].rows:
        for test in (first, second):
            one, other = tables[test].row(first, row.network), tables[test].row(second, row.network)
            if row.training == first and one is not None and other is not None:
                a, b = one.values[MAIN], other.values[MAIN]
                difference = Value(a.mean - b.mean, *interval_ends[test][f"{first} {second} {row.network}"])
                contrasts.append(Contrast(row.network, test, difference, a, b))
    return contrasts


def networks_trained_on_both(first: str, second: str, cells: Mapping[tuple[str, str], list[str]]) -> list[str]:
    """Return the networks that were trained on both sets."""
    return [network for training, network in cells if training == first and (second, network) in cells]


def draw_examples(
    sets: Sequence[EvaluationSet], models: Sequence[Model], scored: Mapping[tuple[str, str], Scored], params: Params
) -> list[Example]:
    """Draw images of each set by their digests, so that sets of the same images show the same; each image once."""
    by_image = {test_set.name: {item.image: item for item in test_set.items} for test_set in sets}
    examples: dict[str, Example] = {}
    for test_set in sets:
        positions = {item.image: at for at, item in enumerate(test_set.items)}
        for image in shuffle_images(list(positions), params.seed)[: params.examples]:
            if image in examples:
                continue
            captions = {model.name: _caption_at(scored[test_set.name, model.name], positions[image]) for model in models}
            references = {name: items[image] for name, items in by_image.items() if image in items}
            examples[image] = Example(by_image[test_set.name][image], test_set.name, references, captions)
    return list(examples.values())


def draw_differing_examples(
    first: EvaluationSet,
    second: EvaluationSet,
    cells: Mapping[tuple[str, str], list[str]],
    scored: Mapping[tuple[str, str], Scored],
    params: Params,
    most: int = 6,
) -> list[Example]:
    """Draw images for which some network's first seeds, trained on either set, write different captions."""
    networks = networks_trained_on_both(first.name, second.name, cells)
    others = {item.image: item for item in second.items}
    positions = {item.image: at for at, item in enumerate(first.items)}
    examples: list[Example] = []
    for image in shuffle_images(list(positions), params.seed):
        captions = {
            f"{training}-{network}": _caption_at(scored[first.name, cells[training, network][0]], positions[image])
            for network in networks
            for training in (first.name, second.name)
        }
        if any(captions[f"{first.name}-{n}"].caption != captions[f"{second.name}-{n}"].caption for n in networks):
            item = first.items[positions[image]]
            examples.append(Example(item, first.name, {first.name: item, second.name: others[image]}, captions))
        if len(examples) >= min(most, params.examples):
            break
    return examples[: params.examples]


def shuffle_images(images: Sequence[str], seed: int) -> list[str]:
    """Return the images in a random order that is keyed by image, so that adding one moves no other."""
    return sorted(images, key=lambda image: (seeded_rng(seed, image, "example").random(), image))


def _caption_at(scored: Scored, at: int) -> ModelCaption:
    return ModelCaption(scored.captions[at], scored.objects[at])


def measure_writing(seeds: Sequence[Scored]) -> Writing:
    """Return the figures of one network, over its seeds."""
    figures = measure_lengths(caption for scored in seeds for caption in scored.captions)
    rates = hallucination_rates(
        [(one.mentioned, one.unsupported) for scored in seeds for one in scored.objects if one.mentioned is not None]
    )
    hallucinated = {
        "objects": rates.named,
        "objects_unsupported": rates.hallucinated,
        "unsupported_share": rates.object_rate,
        "captions_with_unsupported": rates.caption_rate,
    }
    if rates.caption_rate is not None:
        figures |= {name: value for name, value in hallucinated.items() if value is not None}
    return Writing(figures, rates.words)


def measure_lengths(captions: Iterable[str]) -> dict[str, float]:
    """Return the mean number of words of captions, and its standard deviation."""
    statistics = CaptionStatistics()
    for caption in captions:
        statistics.add(caption)
    return {"words": statistics.mean, "words_sd": statistics.deviation}
