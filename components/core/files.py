"""Atomic writing of files, of some for their owner only: a killed process leaves no partial file under a final name."""

from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from components.core.errors import HearsightError


def fsync_folder(folder: Path) -> None:
    """Flush a folder's directory entries (or a file's content) to disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync(path: Path) -> None:
    """Make a file durable, or a folder with everything in it."""
    for member in sorted(path.rglob("*")) if path.is_dir() else ():
        fsync_folder(member)
    fsync_folder(path)


def move_into_place(source: Path, target: Path) -> None:
    """Rename a finished file or folder durably; a file replaces an existing one."""
    source.replace(target)
    fsync_folder(target.parent)


def publish(path: Path, write: Callable[[Path], None], *, temporary: Path | None = None, durable: bool = True) -> None:
    """Write ``path`` atomically: ``write`` fills a temporary file beside it, which is synced and renamed.

    Args:
        temporary: path of the temporary file; by default one that no other process or thread uses.
        durable: sync the file. Without, a loss of power may lose it, but readers never see a partial file.

    Raises:
        HearsightError: the disk is full or not writable; the temporary file is removed and ``path`` is unchanged.
    """
    temporary = temporary or path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write(temporary)
        if durable:
            sync(temporary)
        temporary.replace(path)
        if durable:
            fsync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def remove_abandoned(folder: Path, name: str) -> None:
    """Remove the temporary files that killed writers of the files ``name``, a pattern, left in ``folder``.

    The caller must be their only writer.
    """
    for path in folder.glob(f".{name}.*.tmp"):
        path.unlink(missing_ok=True)


def publish_folder(
    folder: Path,
    fill: Callable[[Path], None],
    keep: Callable[[Path], bool],
    *,
    temporary: Path | None = None,
    durable: bool = True,
) -> bool:
    """Write ``folder`` atomically: ``fill`` writes into a temporary folder beside it, which is synced and renamed.

    Args:
        keep: called with the new folder when ``folder`` exists already: True keeps the old one, False replaces it.
        temporary: path of the temporary folder; an existing one is removed.
        durable: sync files and folders.

    Returns:
        Whether the new folder was published.

    Raises:
        HearsightError: the disk is full or not writable; the temporary folder is removed.
    """
    temporary = temporary or folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        fill(temporary)
        if durable:
            sync(temporary)
        try:
            temporary.rename(folder)
        except OSError:
            if not folder.exists():
                raise
            if keep(temporary):
                return False
            shutil.rmtree(folder)
            temporary.rename(folder)
        if durable:
            fsync_folder(folder.parent)
        return True
    except OSError as error:
        raise disk_error(error, folder) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def publish_bytes(path: Path, data: bytes | memoryview, *, temporary: Path | None = None, durable: bool = True) -> None:
    """Write ``data`` to ``path`` atomically; arguments and errors as for :func:`publish`."""

    def write(target: Path) -> None:
        target.write_bytes(data)

    publish(path, write, temporary=temporary, durable=durable)


def publish_json(path: Path, value: Any) -> None:
    """Write ``value`` to ``path`` atomically as indented JSON with sorted keys; errors as for :func:`publish`."""
    publish_bytes(path, (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())


def read_json_lines(path: Path, names: set[str]) -> list[dict[str, Any]]:
    """Return the objects of a JSON lines file that have these names; a torn line, as a killed run leaves it, is left out."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return []
    lines = []
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and names <= set(value):
            lines.append(value)
    return lines


def link_or_copy(source: Path, target: Path) -> None:
    """Hard-link ``source`` to ``target``, or copy it where the file system has no hard links.

    Hearsight edits neither file in place; readers verify digests.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    publish(target, lambda temporary: link(source, temporary))


def link(source: Path, target: Path) -> None:
    """Hard-link ``source`` to ``target``, which must not exist, or copy it; not synced."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


_SYSTEM_FAULTS = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EACCES,
        errno.EPERM,
        errno.ENOTDIR,
        errno.EIO,
        errno.EMFILE,
        errno.ENAMETOOLONG,
    )
)
"""Errors of the machine (disk, permissions), which the user can fix; not defects of Hearsight."""


def explain_error(error: BaseException) -> HearsightError | None:
    """Return an error that a user can fix, the file system's included; None when it may be a defect."""
    if isinstance(error, HearsightError):
        return error
    if not isinstance(error, OSError) or error.errno not in _SYSTEM_FAULTS:
        return None
    where = Path(str(error.filename)) if error.filename else Path.cwd()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_error(error, where)
    return HearsightError(
        f"cannot be read or written ({error.strerror})", where=where, hint="check its permissions and the disk, and run again"
    )


def disk_error(error: OSError, path: Path) -> HearsightError:
    """Return the error for a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HearsightError(
            "no space is left on the disk",
            where=path,
            hint="free some space and run the same command again; finished shards are kept",
        )
    return HearsightError(
        f"cannot be written ({error.strerror})", where=path, hint="fix the permissions or the disk and run again"
    )


PRIVATE = 0o600
"""Mode of files that only their owner may read: keys, tokens, and databases of ratings."""


def write_private(path: Path, data: bytes) -> None:
    """Write a file atomically that nobody else can read, not even for a moment; errors as of :func:`publish`."""

    def write(temporary: Path) -> None:
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE), "wb") as file:
            file.write(data)

    publish(path, write)


def read_private(path: Path, new: Callable[[], str]) -> str:
    """Return a file's text; the first call writes ``new()``, unless another process was faster.

    Raises:
        HearsightError: it cannot be written.
    """
    if not path.exists():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile("w", dir=path.parent) as file:  # readable by its owner only
                file.write(new())
                file.flush()
                os.fsync(file.fileno())
                with suppress(FileExistsError):
                    os.link(file.name, path)
        except OSError as error:
            raise disk_error(error, path) from error
    keep_private(path)
    return path.read_text(encoding="utf-8", errors="replace").strip()


def keep_private(path: Path) -> None:
    """Take the rights of others from a file, if there is one and it is this user's; who reads it names other faults."""
    with suppress(OSError):
        if path.stat().st_mode & 0o777 != PRIVATE:
            path.chmod(PRIVATE)
