"""Overview of a dataset: the counts of its finished stages, from their manifests, and the sizes of its split, from its records.

The history of single records is :mod:`components.tracking.explain`. What is older than its inputs is marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from components.core.addresses import parse_output_name, stage_address
from components.core.check_warnings import ABOUT, read_warnings, upstream_outputs
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.stage_output import StageOutput
from components.tracking.states import CODE, EARLIER, INPUTS, OUTPUT, SETTINGS, OutputState

MOST_RULES = 3
"""Number of rules listed for a stage: those that dropped most."""
PAGES = {"neighbours": "nearest neighbours", "listen": "voices, to listen to"}
"""File name → title, for pages whose file name is not a title."""
RESULT_STAGES = ("evaluate_speech", "evaluate_captioners", "evaluate_retrieval", "evaluate_ratings", "posts_report")
"""Stages with a ``summary.txt`` of scores."""
CHANGES = {
    SETTINGS: "made with other settings",
    CODE: "made with other code",
    INPUTS: "older than its inputs",
    EARLIER: "older than what its inputs are made from",
    OUTPUT: "changed since its check, or made without one",
}
"""What has changed since a run, in words."""


def finished(graph: Graph, dataset: str) -> dict[str, StageOutput]:
    """Return the finished outputs of a dataset by stage, in the order of dvc.yaml."""
    folders = {stage: graph.output(stage, dataset) for stage in graph.stages_of(dataset)}
    return {stage: StageOutput(folder) for stage, folder in folders.items() if (folder / NAME).exists()}


def overview(graph: Graph, dataset: str, states: Mapping[str, OutputState]) -> str:
    """Return a text table: the counts of each stage, the rules that dropped most, and the stages that have not finished.

    Raises:
        HearsightError: there is no such dataset, or none of its stages has finished.
    """
    stages, done = graph.stages_of(dataset), finished(graph, dataset)
    if not stages:
        known = ", ".join(name for name in graph.datasets if name not in graph.cells)
        raise HearsightError(f"there is no dataset '{dataset}'", where=graph.root / "params.yaml", hint=f"known are: {known}")
    if not done:
        raise HearsightError(
            f"no stage of '{dataset}' has finished",
            where=graph.root / "data",
            hint=f"run `dvc repro {stage_address(dataset, stages[0])}`",
        )
    width = max(map(len, [*done, "stage"]))
    lines = [dataset, f"  {'stage':<{width}}   entered      left   passed  dropped most by"]
    lines += [f"  {stage:<{width}}{_counts(stage_output)}" for stage, stage_output in done.items()]
    for stage in stages:
        for name, folder in graph.inputs(stage, dataset).items() if stage in done else ():
            if folder.parent != graph.root / "data" / dataset:
                lines.append(f"{stage} reads {folder.relative_to(graph.root / 'data')} ({name})")
    changed = {what: [stage for stage in done if what in states[f"{dataset}/{stage}"].changes] for what in CHANGES}
    if any(changed.values()):
        lines.append("not up to date: `hearsight status` says what `dvc repro` would run, and how long it takes")
        lines += [f"  {CHANGES[what]}: {', '.join(names)}" for what, names in changed.items() if names]
    missing = [stage_address(dataset, stage) for stage in stages if stage not in done]
    if missing:
        lines.append(f"not finished: run `dvc repro {' '.join(missing)}`")
    last = "split" if "split" in done else list(done)[-1]  # what follows the split describes or uses its records
    if last == "split":
        sizes = Counter(done[last].table(["split"])["split"].to_pylist())
        lines.append(", ".join(f"{name} {size:,}" for name, size in sizes.most_common()))
    lines.append(f"records of {last}, as Parquet: {done[last].path / 'shards'}")
    lines.append(f"what a rule dropped, and why: hearsight explain --rule RULE -d {dataset}")
    return "\n".join(lines) + "\n"


def results(graph: Graph, dataset: str, states: Mapping[str, OutputState]) -> str:
    """Return the scores of a dataset as text, as its stages and those that its report reads wrote them.

    What is older than its inputs says so first. Empty if none of these stages has finished.
    """
    outputs = [StageOutput(graph.output(stage, dataset)) for stage in graph.stages_of(dataset)]
    if "report" in graph.stages_of(dataset):
        outputs += [StageOutput(path) for path in graph.inputs("report", dataset).values()]
    texts = []
    for name, output in {output.name: output for output in outputs}.items():
        if parse_output_name(name)[1] in RESULT_STAGES and (output.path / NAME).exists():
            address = stage_address(*parse_output_name(name))
            old = f"older than its inputs, `dvc repro {address}` makes it anew:\n" if states[name].old else ""
            texts.append(old + output.file("summary.txt").read_text(encoding="utf-8").rstrip() + "\n")
    return "\n".join(texts)


def pages(graph: Graph, dataset: str) -> dict[str, str]:
    """Return title → path of the HTML pages of the finished stages."""
    paths: dict[str, str] = {}
    for stage_output in finished(graph, dataset).values():
        for entry in stage_output.manifest.files:
            name, _, kind = entry.path.partition(".")
            if kind == "html":
                paths[PAGES.get(name, name)] = str(stage_output.path / entry.path)
    return paths


def shown(graph: Graph, dataset: str, states: Mapping[str, OutputState]) -> str:
    """Return the results of a dataset as text: counts, scores, warnings of its checks, and where its pages are.

    Raises:
        HearsightError: as :func:`overview`.
    """
    parts = [overview(graph, dataset, states), results(graph, dataset, states)]
    if warnings := read_warnings(upstream_outputs(graph, dataset)):
        lines = [f"warnings of the checks: {len(warnings)}", f"  {ABOUT}", *(f"  {warning.text}" for warning in warnings)]
        parts.append("\n".join(lines) + "\n")
    places = pages(graph, dataset)
    if (docs := graph.root / "reports" / "data_docs").is_dir():
        places["checks (Data Docs)"] = str(docs)
    places["states, search, experiments, models, flow runs, all in a browser"] = "make ui"
    parts.append("\n".join(["where to look", *(f"  {what}: {place}" for what, place in places.items())]) + "\n")
    return "\n".join(filter(None, parts))


class Counts(NamedTuple):
    """How many records entered a stage, how many it kept, and rule → how many it dropped."""

    entered: int
    left: int
    rules: dict[str, int]


def counts_of(stage_output: StageOutput) -> Counts:
    """Return the counts of a finished output."""
    counts = stage_output.manifest.counts
    # Outputs without records (models, figures) have one kind, or several that are counted together (images and utterances).
    kinds = [counts["record"]] if "record" in counts else list(counts.values())
    left = sum(kind["kept"] for kind in kinds)
    rules = {rule: number for kind in kinds for rule, number in kind["dropped"].items()}
    return Counts(left + sum(rules.values()), left, rules)


def _counts(stage_output: StageOutput) -> str:
    entered, left, rules = counts_of(stage_output)
    most = sorted(rules.items(), key=lambda item: (-item[1], item[0]))[:MOST_RULES]
    share = f"{100 * left / entered:6.1f} %" if entered else "       –"
    return f"{entered:10,}{left:10,} {share}  {', '.join(f'{rule} {number:,}' for rule, number in most)}".rstrip()
