"""Merge ``experiments.yaml`` over ``params.yaml`` while the large tables run; the original bytes are put back afterwards.

``dvc exp run -S`` does not change values behind YAML anchors, which ``params.yaml`` uses, and leaves ``params.yaml`` changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import Graph, load_graph
from components.core.params import did_you_mean, read_params_file
from components.execution.runner import stage_settings

OVERLAY = "experiments.yaml"
"""In the project's root: the settings that differ from ``params.yaml``."""
_STAGE = 2
"""Keys down to a stage's block: the dataset and the stage."""
HEADER = f"# params.yaml with {OVERLAY} over it, for `hearsight experiments`. Changes are lost: `hearsight demo` restores it.\n"


def backup_path(root: Path) -> Path:
    """Return where the original ``params.yaml`` is kept while the large tables run."""
    return root / "params.yaml.orig"


def merge_settings(base: Mapping[str, Any], over: Mapping[str, Any], where: str, depth: int = 0) -> dict[str, Any]:
    """Merge ``over`` into ``base`` and return the result: mappings are merged, everything else is replaced.

    Below ``<dataset>.<stage>`` it may have settings that ``base`` leaves at their defaults; their names are checked later, by
    the stage's own class.

    Raises:
        HearsightError: ``over`` has a dataset, stage or network that ``base`` lacks, or a value where ``base`` has settings.
    """
    result = dict(base)
    for key, value in over.items():
        setting = f"{where}: {key}"
        if key not in base and depth >= _STAGE and not where.endswith(": networks"):
            result[key] = value
            continue
        if key not in base:
            raise HearsightError("is not a setting of params.yaml", where=setting, hint=did_you_mean(str(key), list(base)))
        if isinstance(base[key], Mapping) != isinstance(value, Mapping):
            raise HearsightError("has another shape than in params.yaml", where=setting, hint="write it as params.yaml does")
        result[key] = merge_settings(base[key], value, setting, depth + 1) if isinstance(value, Mapping) else value
    return result


@contextmanager
def experiment_params(root: Path) -> Iterator[None]:
    """Write the merged settings to ``params.yaml`` for the duration of the ``with`` block.

    Raises:
        HearsightError: either file is missing or unreadable, or the merged settings are not valid.
    """
    restore_params(root)
    path, backup = root / "params.yaml", backup_path(root)
    content = merge_settings(read_params_file(path), read_params_file(root / OVERLAY), OVERLAY)
    if (root / "dvc.yaml").is_file():
        _check(Graph(root, load_graph(root).stages, content))
    publish_bytes(backup, path.read_bytes())
    try:
        text = HEADER + yaml.dump(content, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1000)
        publish_bytes(path, text.encode())
        yield
    finally:
        restore_params(root)


def _check(graph: Graph) -> None:
    """Validate every block against its stage's settings before a long run; raise HearsightError for the first invalid one."""
    for stage, takers in graph.chain.items():
        for dataset in takers:
            with suppress(ModuleNotFoundError):  # a stage that is a command of another program has no settings
                stage_settings(graph, stage, dataset)


def restore_params(root: Path) -> bool:
    """Put the original ``params.yaml`` back if a run of the large tables left its own there; return whether it did.

    A ``params.yaml`` without the header was restored by hand and stays as it is.
    """
    path, backup = root / "params.yaml", backup_path(root)
    if not backup.is_file():
        return False
    ours = path.is_file() and path.read_bytes().startswith(HEADER.encode())
    if ours:
        publish_bytes(path, backup.read_bytes())
    backup.unlink()
    return ours


class _Plain(yaml.SafeDumper):
    """Writes every value out: no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
