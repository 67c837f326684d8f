"""Shards: parquet tables and tar files of media. Equal content gives equal bytes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.errors import HearsightError
from components.core.files import publish
from components.core.stored_files import provide

_OWNER = b"0000644\0" + b"0000000\0" * 2
_REST = b"0" + bytes(100) + b"ustar\x0000" + bytes(247)
_REST_SUM = sum(_REST) + 8 * ord(" ")


def write_table(path: Path, table: pa.Table) -> None:
    """Write one parquet shard atomically.

    Codec and row-group size are fixed, so the bytes depend on the rows and on the locked pyarrow only.
    """
    publish(path, lambda temporary: pq.write_table(table, temporary, compression="zstd", row_group_size=8192))


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Return the rows of one parquet shard, with all columns or with ``columns`` in that order.

    Raises:
        HearsightError: the file is missing or not readable as parquet.
    """
    provide(path)
    try:
        # Not pq.read_table: it imports Arrow's datasets and pandas, a third of the time of a small stage.
        with pq.ParquetFile(path) as file:
            table = file.read(columns, use_threads=False)
        return table if columns is None else table.select(columns)  # read() ignores the order of columns
    except FileNotFoundError:
        raise HearsightError("is missing", where=path, hint="run its stage again") from None
    except (pa.ArrowInvalid, KeyError, OSError) as error:
        raise HearsightError(f"is not a whole parquet shard ({error})", where=path, hint="run its stage again") from None


def count_rows(path: Path) -> int:
    """Return the number of rows of a parquet shard from its metadata."""
    with pq.ParquetFile(path) as file:
        return int(file.metadata.num_rows)


def write_tar(path: Path, members: Mapping[str, bytes]) -> None:
    """Write media as a WebDataset-style tar: members sorted by name, headers without time, owner and mode."""

    def fill(temporary: Path) -> None:
        with temporary.open("wb") as tar:
            for name in sorted(members):
                add_member(tar, name, members[name])
            end_tar(tar)

    publish(path, fill)


def add_member(tar: io.BufferedIOBase, name: str, data: bytes) -> None:
    """Write a file whose header (USTAR) holds its name and size alone; tarfile takes many times as long."""
    head = name.encode().ljust(tarfile.LENGTH_NAME, b"\0") + _OWNER + b"%011o\0%011o\0" % (len(data), 0)
    header = head + b"%06o\0 " % (sum(head) + _REST_SUM) + _REST
    if len(header) > tarfile.BLOCKSIZE:  # a long name is split in two
        info = tarfile.TarInfo(name)
        info.size = len(data)
        header = info.tobuf(tarfile.USTAR_FORMAT)
    tar.write(header)
    tar.write(data)
    tar.write(bytes(-len(data) % tarfile.BLOCKSIZE))


def end_tar(tar: io.BufferedIOBase) -> None:
    """Write the end of an archive, two empty blocks and zeros up to a whole record."""
    tar.write(bytes(2 * tarfile.BLOCKSIZE))
    tar.write(bytes(-tar.tell() % tarfile.RECORDSIZE))


class TarReader:
    """Random access to the members of one tar; the index is read once.

    Raises:
        HearsightError: the file is missing or not a complete tar.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        provide(path)
        try:
            with tarfile.open(path, "r:") as tar:
                self._index = {member.name: (member.offset_data, member.size) for member in tar}
        except (tarfile.TarError, OSError) as error:
            raise HearsightError(f"is not a whole tar shard ({error})", where=path, hint="run its stage again") from None

    def __len__(self) -> int:
        return len(self._index)

    def read(self, member: str) -> bytes:
        """Return the bytes of ``member``; raises HearsightError when there is no such member, or the file has changed."""
        offset, size = self.locate(member)
        try:
            with self.path.open("rb") as handle:
                handle.seek(offset)
                data = handle.read(size)
        except OSError as error:
            raise HearsightError(
                f"cannot be read any more ({error.strerror})", where=self.path, hint="run its stage again"
            ) from None
        if len(data) < size:
            raise HearsightError(f"was cut while it was read, at '{member}'", where=self.path, hint="run its stage again")
        return data

    def locate(self, member: str) -> tuple[int, int]:
        """Return offset and size of ``member`` in bytes; raises HearsightError when there is no such member."""
        try:
            return self._index[member]
        except KeyError:
            raise HearsightError(f"has no member '{member}'", where=self.path, hint="run its stage again") from None
