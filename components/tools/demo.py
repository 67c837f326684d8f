"""What ``hearsight demo`` and ``hearsight experiments`` add to the flow: openings, and settings of the large tables.

``experiments.yaml`` is merged over the settings of datasets while the large tables run; the files are put back afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import Graph, load_graph, merge_settings
from components.core.params import FOLDER, dataset_file, did_you_mean, read_yaml
from components.core.yaml_edit import yaml_text
from components.execution.runner import stage_settings
from components.tools.profiles.profile import Profile

OVERLAY = "experiments.yaml"
"""In the project's root: the settings of each dataset that differ from those in its file."""
HEADER = f"# With {OVERLAY} over it, for `hearsight experiments`. Changes are lost: `hearsight demo` restores the file.\n"
_ORIGINAL = ".orig"
"""Ending of the original of a file while the large tables run."""


@contextmanager
def experiment_params(root: Path) -> Iterator[None]:
    """Write the merged settings to the files of the datasets for the duration of the ``with`` block.

    Raises:
        HearsightError: a file is missing or unreadable, or the merged settings are not valid; the files are then as they were.
    """
    restore_params(root)
    merged = {}
    for name, over in read_yaml(root / OVERLAY).items():
        path = dataset_file(root, str(name))
        if not path.is_file():
            known = [file.stem for file in path.parent.glob("*.yaml")]
            raise HearsightError("is no dataset", where=f"{OVERLAY}: {name}", hint=did_you_mean(str(name), known))
        merged[path] = _merge(read_yaml(path), over, f"{OVERLAY}: {name}")
    try:
        for path, content in merged.items():
            publish_bytes(path.with_name(path.name + _ORIGINAL), path.read_bytes())
            publish_bytes(path, (HEADER + yaml_text(content)).encode())
        if (root / "dvc.yaml").is_file():
            _check(root)
        yield
    finally:
        restore_params(root)


def _merge(base: Mapping[str, Any], over: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the merged settings of one dataset; the names of settings are checked by the stage's own class."""
    for stage, settings in over.items():
        if stage not in base:
            raise HearsightError("is not in the dataset's file", where=f"{where}.{stage}", hint=did_you_mean(str(stage), base))
        if isinstance(base[stage], Mapping) != isinstance(settings, Mapping):
            raise HearsightError("has another shape than in the dataset's file", where=f"{where}.{stage}", hint="write it alike")
    return merge_settings(base, over)


def _check(root: Path) -> None:
    """Validate every block against its stage's settings before a long run; raise HearsightError for the first invalid one."""
    graph = load_graph(root)
    for stage, takers in graph.chain.items():
        for dataset in takers:
            with suppress(ModuleNotFoundError):  # a stage that is a command of another program has no settings
                stage_settings(graph, stage, dataset)


def restore_params(root: Path) -> bool:
    """Put the original files back if a run of the large tables left its own there; return whether it did.

    A file without the header was restored by hand and stays as it is.
    """
    restored = False
    for original in sorted((root / FOLDER).glob(f"*.yaml{_ORIGINAL}")):
        path = original.with_suffix("")
        if path.is_file() and path.read_bytes().startswith(HEADER.encode()):
            publish_bytes(path, original.read_bytes())
            restored = True
        original.unlink()
    return restored


MINUTES = {"demo": 12, "experiments": 50}
"""Minutes on two idle cores with nothing cached: the demo on a slow machine, the experiments from 80 min of CPU."""
DISK_GIB = {"demo": 1.2, "experiments": 3}
"""Size of ``data``, ``.dvc/cache``, ``.hearsight`` and MLflow without the sample's packages; estimated for the experiments."""
SHOWN = ("english", "portuguese", "stamps")
"""Datasets whose results are printed."""


STOPPED = "Ctrl-C stops it; the same command continues."


def opening(graph: Graph, kind: str) -> str:
    """Return a text with what will run, how long it takes and how much disk it needs."""
    datasets = len(set(graph.datasets) - set(graph.cells))
    stages = sum(map(len, graph.chain.values()))
    lines = [
        f"The whole pipeline on the sample: {stages} stages, each with its check, of {datasets} data sets.",
        f"About {MINUTES[kind]} minutes on 2 idle cores with nothing cached; {DISK_GIB[kind]:g} GiB of disk below this folder.",
        STOPPED,
    ]
    return "\n".join(lines)


def opening_of_profile(profile: Profile) -> str:
    """Return a text with what a profile repeats, and the devices, time and disk that it needs."""
    return "\n".join([profile.title, *(f"  {need}" for need in profile.needs), STOPPED])
