"""References to models: of a hub by id and commit, or a folder; their files, and the digest that identifies them.

A hub's files are downloaded once, to the cache that ``HF_HOME`` names; later loads use no network. Only the files at the root of
a repository are read, and of these weights in safetensors, tokenizers and settings.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from components.core.addresses import find_root, installed_file
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.params import Positive, Settings
from components.execution.resources import Accelerator

INSTALL = "pip install --editable '.[hub]'"
READ = (".safetensors", ".json", ".txt", ".model", ".jinja")
"""Endings of the files that are downloaded, and that a digest covers."""
_OF_HUB = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", re.ASCII)
_NO_COMMIT = re.compile(r"[\w.-]+/[\w.-]+(@.*)?", re.ASCII)


class HubModel(Settings):
    """A model and how it computes."""

    model: str = ""
    """A hub's id with the full hash of a commit, ``openai/clip-vit-base-patch32@<40 hex digits>``, or a folder below the
    project's root; empty for none. Ours."""
    device: Accelerator = "cpu"
    """Where it computes. Ours."""
    batch: Positive = 1
    """Images or texts in a batch; results of other batches differ by rounding, so each size has its own. Ours."""


class HubFolder(NamedTuple):
    """The files of a model."""

    name: str
    """As the settings name it."""
    folder: Path
    digest: str
    """sha256 over names and contents of its files."""


def find_model(project: Path, model: str) -> HubFolder:
    """Return the files of a model; those of a hub are downloaded if they are not here.

    Args:
        project: the root that a folder is relative to.
        model: as :attr:`HubModel.model`.

    Raises:
        HearsightError: it is no model with weights in safetensors, names no commit, or cannot be downloaded.
    """
    if find_spec("transformers") is None:
        raise HearsightError("needs packages that are not installed", where=model, hint=f"run `{INSTALL}`")
    folder = installed_file(project, model)
    if _OF_HUB.fullmatch(model):
        folder = _downloaded(model)
    elif not folder.is_dir():
        if _NO_COMMIT.fullmatch(model):
            hint = "write ID@COMMIT with the 40 hex digits of a commit, so that the model never changes; or name a folder"
            raise HearsightError("is no folder, and names no commit of a hub", where=model, hint=hint)
        raise HearsightError("is no folder", where=folder, hint="name a folder with config.json, or ID@COMMIT of a hub")
    if lost := _missing(folder):
        hint = "name a model with weights in safetensors; pickles can run code and are not read"
        raise HearsightError(f"holds no {lost}", where=model, hint=hint)
    return HubFolder(model, folder, _digest(folder))


def find_recorded(model: str) -> HubFolder:
    """Return the files of a model that a trained model records; a folder is below the project at hand, if there is one."""
    try:
        project = find_root()
    except HearsightError:
        project = Path()
    return find_model(project, model)


def cached_models() -> list[tuple[str, int]]:
    """Return the models in the hub's cache on this machine as ``ID@COMMIT``, with their sizes in bytes."""
    if find_spec("huggingface_hub") is None:
        return []
    # Imported on use, here and below: an optional extra.
    from huggingface_hub import CacheNotFound, scan_cache_dir

    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return []
    return sorted(
        (f"{repository.repo_id}@{revision.commit_hash}", revision.size_on_disk)
        for repository in repositories
        for revision in repository.revisions
        if repository.repo_type == "model"
    )


def _downloaded(model: str) -> Path:
    # Imported on use: an optional extra.
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    name, _, commit = model.partition("@")
    endings = [f"*{ending}" for ending in READ]
    try:
        here = Path(snapshot_download(name, revision=commit, local_files_only=True))
        if not _missing(here):
            return here
    except LocalEntryNotFoundError:
        pass
    try:
        return Path(snapshot_download(name, revision=commit, allow_patterns=endings, ignore_patterns="*/*"))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        reason = " ".join(str(error).split())[:160]
        hint = "check id, commit and network; models that need an agreement want HF_TOKEN; or copy its files into a folder"
        raise HearsightError(f"cannot be downloaded ({reason})", where=model, hint=hint) from error


def _missing(folder: Path) -> str:
    """Return what a model's folder lacks; empty if it is complete."""
    if not (folder / "config.json").is_file():
        return "config.json"
    index = folder / "model.safetensors.index.json"
    if not index.is_file():
        return "" if any(folder.glob("*.safetensors")) else "weights in safetensors"
    names = set(re.findall(r'"([^"/]+\.safetensors)"', index.read_text(encoding="utf-8")))
    return next((name for name in sorted(names) if not (folder / name).is_file()), "")


def _digest(folder: Path) -> str:
    files = sorted(path for path in folder.iterdir() if path.suffix in READ and path.is_file())
    whole = hashlib.sha256()
    for path in files:
        stat = path.stat()
        whole.update(f"{path.name} {_file_digest(path, stat.st_size, stat.st_mtime_ns)}\n".encode())
    return whole.hexdigest()


@lru_cache(maxsize=256)
def _file_digest(path: Path, size: int, changed: int) -> str:
    """Return a file's sha256; size and time of its change are only the key."""
    return sha256_file(path)
