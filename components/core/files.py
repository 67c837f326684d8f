"""Writing files so that a killed process never leaves half of one under its final name."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from components.core.errors import HearsightError


def sync(path: Path) -> None:
    """Make a file's content, or the names inside a folder, durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def fsync_folder(folder: Path) -> None:
    """Make renames inside ``folder`` durable."""
    sync(folder)


def publish(path: Path, write: Callable[[Path], None], *, temporary: Path | None = None, durable: bool = True) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then sync it and rename it into place.

    Args:
        path: the file to write.
        write: writes all of the file it is given.
        temporary: where it is until then; by default a name that no other process or thread uses.
        durable: sync it; without, a power failure may lose the file but a reader still never sees half of one.

    Raises:
        HearsightError: the disk is full or not writable; the temporary file is removed, ``path`` is as it was.
    """
    temporary = temporary or path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write(temporary)
        if durable:
            sync(temporary)
        temporary.replace(path)
        if durable:
            sync(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise disk_error(error, path) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def publish_folder(
    folder: Path,
    fill: Callable[[Path], None],
    keep: Callable[[Path], bool],
    *,
    temporary: Path | None = None,
    durable: bool = True,
) -> bool:
    """Let ``fill`` write into a temporary folder beside ``folder``, then sync all of it and rename it into place.

    Args:
        folder: the folder to write.
        fill: writes into the empty folder it is given.
        keep: asked with the new folder when ``folder`` is there already: True keeps the old one, False replaces it.
        temporary: where the new folder is until then; what is there is removed.
        durable: sync files and folders.

    Returns:
        Whether the new folder was put into place.

    Raises:
        HearsightError: the disk is full or not writable; the temporary folder is removed.
    """
    temporary = temporary or folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        fill(temporary)
        if durable:
            for path in sorted(temporary.rglob("*")):
                sync(path)
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
            sync(folder.parent)
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


def link_or_copy(source: Path, target: Path) -> None:
    """Give ``source`` a second name, or a second copy where the file system cannot.

    The bytes under either name are never edited in place by Hearsight; a reader verifies digests all the same.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    publish(target, lambda temporary: _link(source, temporary))


def _link(source: Path, target: Path) -> None:
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
"""What the machine or its owner is to fix: no defect of Hearsight."""


def system_fault(error: OSError) -> HearsightError | None:
    """What to tell a person about an error of the file system that no code foresaw; None when it may be a defect."""
    if error.errno not in _SYSTEM_FAULTS:
        return None
    where = Path(str(error.filename)) if error.filename else Path.cwd()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return disk_error(error, where)
    return HearsightError(
        f"cannot be read or written ({error.strerror})", where=where, hint="check its permissions and the disk, and run again"
    )


def disk_error(error: OSError, path: Path) -> HearsightError:
    """What to tell a person about a failed write."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return HearsightError(
            "no space is left on the disk", where=path, hint="free some and run the same command again; finished shards are kept"
        )
    return HearsightError(
        f"cannot be written ({error.strerror})", where=path, hint="fix the permissions or the disk and run again"
    )
