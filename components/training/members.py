"""Members of a prepared set's tars, mapped into memory: read at random, held by the system's page cache alone."""

from __future__ import annotations

import io
import mmap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.core.shards import TarReader

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput

HEAD = 128
"""Bytes of the header that numpy writes before an array of few axes."""


class Members:
    """Files inside uncompressed tars, by number.

    Args:
        output: whose ``media`` folder holds the tars.
        references: ``<tar shard>/<member>`` of each.

    Raises:
        HearsightError: a tar is not whole, or has no such member.
    """

    def __init__(self, output: StageOutput, references: Sequence[str]) -> None:
        split = [reference.partition("/") for reference in references]
        names = sorted({shard for shard, _, _ in split})
        self.paths = [output.path / "media" / f"{name}.tar" for name in names]
        number = {name: index for index, name in enumerate(names)}
        tars = [TarReader(path) for path in self.paths]
        places = [tars[number[shard]].locate(member) for shard, _, member in split]
        self.tar = np.array([number[shard] for shard, _, _ in split], dtype=np.int32)
        self.offset, self.size = np.array(places, dtype=np.int64).reshape(-1, 2).T
        self._maps: dict[int, mmap.mmap] = {}
        self._heads: dict[bytes, tuple[tuple[int, ...], np.dtype[Any], int]] = {}

    @classmethod
    def joined(cls, parts: Sequence[Members]) -> Members:
        """The members of several sets, one after another."""
        made = cls.__new__(cls)
        made.paths = [path for part in parts for path in part.paths]
        before = np.cumsum([0, *(len(part.paths) for part in parts)])
        made.tar = np.concatenate([part.tar + first for part, first in zip(parts, before, strict=False)], dtype=np.int32)
        made.offset, made.size = (np.concatenate([getattr(part, name) for part in parts]) for name in ("offset", "size"))
        made._maps, made._heads = {}, {}
        return made

    def select(self, places: NDArray[np.int64]) -> Members:
        """These members alone, in this order."""
        made = Members.joined([self])
        made.tar, made.offset, made.size = self.tar[places], self.offset[places], self.size[places]
        return made

    def __len__(self) -> int:
        return len(self.tar)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_maps": {}}

    def read(self, index: int) -> bytes:
        """A member's bytes."""
        offset = int(self.offset[index])
        return self._map(index)[offset : offset + int(self.size[index])]

    def array(self, index: int) -> NDArray[Any]:
        """A ``.npy`` member as a view of the file: nothing is read until it is looked at.

        Raises:
            HearsightError: it is not a whole array in C order.
        """
        offset, size = int(self.offset[index]), int(self.size[index])
        held = self._map(index)
        try:
            shape, kind, begin = self._header(held[offset : offset + min(HEAD, size)])
            count = int(np.prod(shape))
            if begin + count * kind.itemsize != size:
                raise ValueError(f"holds {size - begin} bytes for an array of {shape}")
            return np.frombuffer(held, dtype=kind, count=count, offset=offset + begin).reshape(shape)
        except (ValueError, OSError, EOFError) as error:
            what = f"has a member {index} that is no whole array ({error})"
            raise HearsightError(what, where=self.paths[self.tar[index]], hint="run the stage before this one again") from error

    def _map(self, index: int) -> mmap.mmap:
        """The tar that holds a member, mapped once a process."""
        tar = int(self.tar[index])
        if tar not in self._maps:
            with self.paths[tar].open("rb") as handle:
                held = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
            held.madvise(mmap.MADV_RANDOM)
            self._maps[tar] = held
        held = self._maps[tar]
        if int(self.offset[index] + self.size[index]) > len(held):
            raise HearsightError("ends inside a member", where=self.paths[tar], hint="run the stage before this one again")
        return held

    def _header(self, head: bytes) -> tuple[tuple[int, ...], np.dtype[Any], int]:
        """Shape, number format and length of the header; members of a set share a few headers, so each is parsed once."""
        if head not in self._heads:
            source = io.BytesIO(head)
            if npy.read_magic(source) != (1, 0):
                raise ValueError("its header is not numpy's first version")
            shape, fortran, kind = npy.read_array_header_1_0(source)
            if fortran:
                raise ValueError("it is in Fortran's order")
            self._heads[head] = (shape, kind, source.tell())
        return self._heads[head]
