"""Merge ``experiments.yaml`` over ``params.yaml`` while the large tables run.

``dvc exp run -S`` would be the usual way, but it does not change values behind YAML anchors, which ``params.yaml`` uses for what
datasets share, and it leaves ``params.yaml`` changed. Here the merged settings are written to ``params.yaml`` for the time of the
run and the original bytes are put back afterwards; after a kill, by the next command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.params import _did_you_mean, read_params_file

OVERLAY = "experiments.yaml"
"""In the project's root: the settings that differ from ``params.yaml``."""
HEADER = f"# params.yaml with {OVERLAY} over it, for `hearsight experiments`. Changes are lost: `hearsight demo` restores it.\n"


def backup_path(root: Path) -> Path:
    """Return where the original ``params.yaml`` is kept while the large tables run."""
    return root / "params.yaml.orig"


def merge_settings(base: Mapping[str, Any], over: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Merge ``over`` into ``base`` and return the result: mappings are merged, everything else is replaced.

    Raises:
        HearsightError: ``over`` has a key that ``base`` lacks, or a value where ``base`` has settings.
    """
    result = dict(base)
    for key, value in over.items():
        setting = f"{where}: {key}"
        if key not in base:
            raise HearsightError("is not a setting of params.yaml", where=setting, hint=_did_you_mean(str(key), list(base)))
        if isinstance(base[key], Mapping) != isinstance(value, Mapping):
            raise HearsightError("has another shape than in params.yaml", where=setting, hint="write it as params.yaml does")
        result[key] = merge_settings(base[key], value, setting) if isinstance(value, Mapping) else value
    return result


@contextmanager
def experiment_params(root: Path) -> Iterator[None]:
    """Let ``params.yaml`` hold the settings of the large tables inside the block.

    Raises:
        HearsightError: either file is missing or unreadable, or they do not fit.
    """
    restore_params(root)
    path, backup = root / "params.yaml", backup_path(root)
    content = merge_settings(read_params_file(path), read_params_file(root / OVERLAY), OVERLAY)
    publish_bytes(backup, path.read_bytes())
    try:
        text = HEADER + yaml.dump(content, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=1000)
        publish_bytes(path, text.encode())
        yield
    finally:
        restore_params(root)


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
