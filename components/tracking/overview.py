"""What a dataset holds so far, stage by stage, from manifests alone: for a chain that ends before a page sums it up.

Not in scope: single records (``explain``), and scores (the stages that write a ``summary.txt``).
"""

from __future__ import annotations

from components.core.addresses import address
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.manifest import NAME
from components.core.stage_output import StageOutput

MOST_RULES = 3
"""Rules of a stage that are listed: those that dropped most."""
PAGES = {"neighbours": "nearest neighbours", "evaluate_speech": "voices, to listen to"}
"""What pages hold whose file name does not say it."""


def finished(graph: Graph, dataset: str) -> dict[str, StageOutput]:
    """Return the finished outputs of a dataset by stage, in the order of dvc.yaml."""
    folders = {stage: graph.output(stage, dataset) for stage in graph.stages_of(dataset)}
    return {stage: StageOutput(folder) for stage, folder in folders.items() if (folder / NAME).exists()}


def overview(graph: Graph, dataset: str) -> str:
    """Return lines for people: what entered and left each stage, the rules that dropped most, and what is still to run.

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
            hint=f"run `dvc repro {address(dataset, stages[0])}`",
        )
    width = max(map(len, [*done, "stage"]))
    lines = [dataset, f"  {'stage':<{width}}   entered      left   passed  dropped most by"]
    lines += [f"  {stage:<{width}}{_counts(stage_output)}" for stage, stage_output in done.items()]
    for stage in stages:
        for name, folder in graph.inputs(stage, dataset).items() if stage in done else ():
            if folder.parent != graph.root / "data" / dataset:
                lines.append(f"{stage} reads {folder.relative_to(graph.root / 'data')} ({name})")
    missing = [address(dataset, stage) for stage in stages if stage not in done]
    if missing:
        lines.append(f"not finished: run `dvc repro {' '.join(missing)}`")
    lines.append(f"records of {list(done)[-1]}, as Parquet: {list(done.values())[-1].path / 'shards'}")
    lines.append(f"what a rule dropped, and why: hearsight explain --rule RULE -d {dataset}")
    return "\n".join(lines) + "\n"


def pages(graph: Graph, dataset: str) -> dict[str, str]:
    """Return the pages of the finished stages: what each holds, and its path."""
    found: dict[str, str] = {}
    for stage_output in finished(graph, dataset).values():
        for entry in stage_output.manifest.files:
            name, _, kind = entry.path.partition(".")
            if kind == "html":
                found[PAGES.get(name, name)] = str(stage_output.path / entry.path)
    return found


def _counts(stage_output: StageOutput) -> str:
    counts = stage_output.manifest.counts
    # What is not of records (models, figures) is one kind, or several that belong together (pictures and utterances).
    kinds = [counts["record"]] if "record" in counts else list(counts.values())
    left = sum(kind["kept"] for kind in kinds)
    rules = {rule: number for kind in kinds for rule, number in kind["dropped"].items()}
    entered = left + sum(rules.values())
    most = sorted(rules.items(), key=lambda item: (-item[1], item[0]))[:MOST_RULES]
    share = f"{100 * left / entered:6.1f} %" if entered else "       –"
    return f"{entered:10,}{left:10,} {share}  {', '.join(f'{rule} {number:,}' for rule, number in most)}".rstrip()
