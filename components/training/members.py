"""Random access to files inside a prepared set's tars: memory-mapped, cached only by the operating system."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.core.view_arrays import HEADER, SKIPPABLE, PackedViews, read_npy_header

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput

PACKED = SKIPPABLE.to_bytes(4, "little")
"""First bytes of a member whose views are compressed."""


def undistorted(views: int) -> int:
    """Return the number of the view that is the whole image, 0."""
    return 0


class Members:
    """Files inside uncompressed tars, by index.

    Args:
        output: its ``media`` folder has the tars.
        references: ``<tar shard>/<member>`` of each file.

    Raises:
        HearsightError: a tar is damaged or lacks a member.
    """

    def __init__(self, output: StageOutput, references: Sequence[str]) -> None:
        split = [reference.partition("/") for reference in references]
        names = sorted({shard for shard, _, _ in split})
        self.paths = [output.path / "media" / f"{name}.tar" for name in names]
        number = {name: index for index, name in enumerate(names)}
        tars = [output.tar(name) for name in names]
        positions = [tars[number[shard]].locate(member) for shard, _, member in split]
        self.tar = np.array([number[shard] for shard, _, _ in split], dtype=np.int32)
        self.offset, self.size = np.array(positions, dtype=np.int64).reshape(-1, 2).T
        self._maps: dict[int, mmap.mmap] = {}

    @classmethod
    def joined(cls, parts: Sequence[Members]) -> Members:
        """Return the members of several sets, concatenated."""
        joined = cls.__new__(cls)
        joined.paths = [path for part in parts for path in part.paths]
        before = np.cumsum([0, *(len(part.paths) for part in parts)])
        joined.tar = np.concatenate([part.tar + first for part, first in zip(parts, before, strict=False)], dtype=np.int32)
        joined.offset, joined.size = (np.concatenate([getattr(part, name) for part in parts]) for name in ("offset", "size"))
        joined._maps = {}
        return joined

    def select(self, indices: NDArray[np.int64]) -> Members:
        """Return the members at these indices, in this order."""
        selected = Members.joined([self])
        selected.tar, selected.offset, selected.size = self.tar[indices], self.offset[indices], self.size[indices]
        return selected

    def __len__(self) -> int:
        return len(self.tar)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_maps": {}}

    def read(self, index: int) -> bytes:
        """Return a member's bytes."""
        offset = int(self.offset[index])
        return self._map(index)[offset : offset + int(self.size[index])]

    def array(self, index: int) -> NDArray[Any]:
        """Return an array: a ``.npy`` member as a view of the mapped file, a ``.npy.zst`` member decompressed.

        Raises:
            HearsightError: it is not a complete array in C order.
        """
        offset, size = int(self.offset[index]), int(self.size[index])
        tar = self._map(index)
        try:
            if self._packed(tar, offset):
                return PackedViews(memoryview(tar)[offset : offset + size]).array()
            shape, kind, begin = read_npy_header(tar[offset : offset + min(HEADER, size)])
            count = int(np.prod(shape))
            if begin + count * kind.itemsize != size:
                raise ValueError(f"holds {size - begin} bytes for an array of {shape}")
            return np.frombuffer(tar, dtype=kind, count=count, offset=offset + begin).reshape(shape)
        except (ValueError, OSError, EOFError) as error:
            raise self._damaged(index, error) from error

    def choose_view(self, index: int, choose: Callable[[int], int] = undistorted, *, first: bool) -> NDArray[Any]:
        """Return a part of one view of an array of views × vectors × F, decompressing no more than that.

        Args:
            choose: returns the view, given their number; by default view 0.
            first: return the first vector, 1 × F; else the others.

        Raises:
            HearsightError: as :meth:`array`.
        """
        offset, size = int(self.offset[index]), int(self.size[index])
        tar = self._map(index)
        if not self._packed(tar, offset):
            array = self.array(index)
            view: NDArray[Any] = array[choose(len(array))]
            return view[:1] if first else view[1:]
        try:
            packed = PackedViews(memoryview(tar)[offset : offset + size])
            chosen = choose(len(packed))
            return packed.first(chosen) if first else packed.rest(chosen)
        except ValueError as error:
            raise self._damaged(index, error) from error

    def _packed(self, tar: mmap.mmap, offset: int) -> bool:
        return tar[offset : offset + 4] == PACKED

    def _damaged(self, index: int, error: Exception) -> HearsightError:
        what = f"has a member {index} that is not a complete array ({error})"
        return HearsightError(what, where=self.paths[self.tar[index]], hint="run the stage before this one again")

    def _map(self, index: int) -> mmap.mmap:
        """Return the mapped tar of a member; each process maps it once."""
        tar = int(self.tar[index])
        if tar not in self._maps:
            with self.paths[tar].open("rb") as handle:
                mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
            mapped.madvise(mmap.MADV_RANDOM)
            self._maps[tar] = mapped
        mapped = self._maps[tar]
        if int(self.offset[index] + self.size[index]) > len(mapped):
            raise HearsightError("ends inside a member", where=self.paths[tar], hint="run the stage before this one again")
        return mapped
