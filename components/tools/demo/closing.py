"""Texts printed before and after the demo: size and time, results, pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.core.check_warnings import read_warnings
from components.core.errors import HearsightError
from components.core.graph import Graph
from components.core.stage_output import StageOutput
from components.execution.runner import stage_settings

MINUTES = {"demo": 8, "experiments": 50}
"""Minutes on two idle cores with nothing cached: the demo as measured by `make bare`, the experiments from 80 min of CPU."""
DISK_GIB = {"demo": 1.2, "experiments": 3}
"""Size of ``data``, ``.dvc/cache``, ``.hearsight`` and MLflow without the sample's packages; estimated for the experiments."""
RESULTS = (("english", "report"), ("portuguese", "posts_report"), ("stamps", "evaluate_retrieval"))
"""Outputs whose summaries are printed; english's report holds the captioners' scores."""
PAGES = (
    ("web pages: funnel, statistics, captioners' scores", "english/report/report.html"),
    ("captioners compared, caption by caption", "captioners/evaluate_captioners/compare.html"),
    ("posts: clusters, topics, words", "portuguese/posts_report/analysis.html"),
    ("speech-image retrieval", "stamps/evaluate_retrieval/retrieval.html"),
    ("nearest neighbours of speech and images", "stamps/build_search_index/neighbours.html"),
    ("voices to listen to", "english/evaluate_speech/listen.html"),
)


def opening(graph: Graph, kind: str) -> str:
    """Return a text with what will run, how long it takes and how much disk it needs."""
    datasets = len(set(graph.datasets) - set(graph.cells))
    stages = sum(map(len, graph.chain.values()))
    lines = [
        f"The whole pipeline on the sample: {stages} stages, each with its check, of {datasets} data sets.",
        *_models(graph),
        f"About {MINUTES[kind]} minutes on 2 idle cores with nothing cached; {DISK_GIB[kind]:g} GiB of disk below this folder.",
        "Ctrl-C stops it; the same command continues.",
    ]
    return "\n".join(lines)


def _models(graph: Graph) -> list[str]:
    """Return lines on the models to train, from the settings; none where a dataset is missing."""
    try:
        networks, sets = graph.params["captioners"]["networks"], graph.params["captioners"]["sets"]
        cells: list[Any] = [stage_settings(graph, "train_captioner", dataset) for dataset in graph.cells]
        seeds = max(len(cell.training.seeds) for cell in cells)
        train: Any = stage_settings(graph, "pretrain_retrieval", "spoken")
        tune: Any = stage_settings(graph, "finetune_retrieval", "stamps")
    except (KeyError, TypeError, ValueError, HearsightError):
        return []
    rows = f"{', '.join(train.rows)} pretrained, {', '.join(tune.rows)} fitted to human speech"
    return [
        f"Captioners: {len(networks)} networks x {len(sets)} sets x {_seeds(seeds)}.",
        f"Speech-image models: {rows}, {_seeds(len(train.seeds))} each.",
    ]


def _seeds(number: int) -> str:
    return f"{number} seed{'' if number == 1 else 's'}"


def results(root: Path, graph: Graph) -> Iterator[str]:
    """Yield the summaries, then the pages that exist."""
    for dataset, stage in RESULTS:
        path = graph.output(stage, dataset) / "summary.txt"
        if path.is_file():
            yield f"--- {dataset}"
            yield path.read_text(encoding="utf-8").rstrip() + "\n"
    if warnings := read_warnings(StageOutput(folder) for _, _, folder in graph.outputs()):
        yield "warnings of the checks (measured values outside their usual range; they stop nothing)"
        yield from (f"  {warning.text}" for warning in warnings)
        yield ""
    yield "pages (open them in a browser)"
    for title, page in PAGES:
        if (root / "data" / page).is_file():
            yield f"  {title}: {root / 'data' / page}"
    yield f"  checks (Data Docs): {root / 'reports' / 'data_docs'}"
    yield "  all of them with experiments, models and flow runs: make ui"
