"""Looking at many images, each within a budget of CPU time and memory: one that needs more costs itself and nothing else.

Results are kept by the image's sha256, whatever the budget was. Those that say that it was too small say how large it was, so
that under a larger one the image is looked at again; a budget made smaller drops nothing that is known to be good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Protocol

from components.core.digests import sha256_bytes
from components.core.result_cache import ResultCache
from components.execution.limits import OverLimit, run_limited
from components.web.budget import Budget
from components.web.images.head import Head, read_head
from components.web.images.image import DecodeResult, decode_image
from components.web.images.kinds import find_exceeded_limit

_DEFAULT = Budget()


class Stored(Protocol):
    """An image that is read where it is decoded, so that a batch of them is never in memory together."""

    def read(self) -> bytes:
        """Its bytes."""


@dataclass(frozen=True)
class ImageLook:
    """:func:`components.web.images.image.decode_image` as an annotator, within a budget."""

    budget: Budget = _DEFAULT
    name = "image.look"
    version = 4
    model = "pillow-12"
    codec = "json"

    def compute(self, payload: bytes | Stored) -> dict[str, Any]:
        """The decode result of one image, as plain values."""
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[bytes | Stored]) -> list[dict[str, Any]]:
        """The decode result of each image, as plain values; raises what reading it raises."""
        load_decoders()
        found = self._run(payloads)
        # Where the machine itself is short of memory any process may be killed: once more, now, is cheap.
        crashed = [at for at, one in enumerate(found) if one == OverLimit("crash")]
        for at, once_more in zip(crashed, self._run([payloads[at] for at in crashed]), strict=True):
            found[at] = once_more
        return [
            self.result_over(one, payload) if isinstance(one, OverLimit) else asdict(one)
            for one, payload in zip(found, payloads, strict=True)
        ]

    def _run(self, payloads: Sequence[bytes | Stored]) -> list[DecodeResult | OverLimit]:
        work = partial(decode_within, self.budget)
        return run_limited(work, payloads, seconds=self.budget.image_seconds, memory=self.budget.image_memory)

    def result_over(self, over: OverLimit, payload: bytes | Stored) -> dict[str, Any]:
        """The decode result of an image that costs more than the budget, as plain values."""
        data = _bytes(payload)
        head = read_head(data, last=True) or Head("")
        size = (head.format, head.width, head.height)
        return asdict(
            _over(self.budget, DecodeResult("image_over_budget", over.reason, *size, "", len(data), sha256_bytes(data)))
        )


def decode_all(annotations: ResultCache, budget: Budget, payloads: Mapping[str, bytes | Stored]) -> dict[str, dict[str, Any]]:
    """Image sha256 → its decode result, as plain values: those that are kept, where they hold under ``budget``, else by a look.

    Errors as for :meth:`ResultCache.annotate`.
    """
    annotator = ImageLook(budget)
    results = annotations.annotate(annotator, payloads)
    again = [sha for sha, result in results.items() if _was_too_small(result, budget)]
    if again:
        fresh = dict(zip(again, annotator.compute_many([payloads[sha] for sha in again]), strict=True))
        annotations.keep(annotator, fresh)
        results |= fresh
    return results


def _was_too_small(fact: Mapping[str, Any], budget: Budget) -> bool:
    """Whether an image was refused for a budget that ``budget`` goes beyond."""
    if fact["reason"] == "image_too_large":
        return not find_exceeded_limit(fact["width"], fact["height"], pixels=budget.image_pixels, side=budget.image_side)
    if fact["reason"] != "image_over_budget":
        return False
    more = {"cpu": budget.image_seconds > fact["seconds"], "memory": budget.image_memory > fact["memory"]}
    return more.get(fact["detail"], any(more.values()))


def decode_within(budget: Budget, payload: bytes | Stored) -> DecodeResult:
    """The work itself, for a process that is held to the budget's time and memory; raises MemoryError."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the limit is the budget's
    found = decode_image(_bytes(payload), budget)
    return _over(budget, found) if found.reason == "image_over_budget" else found


def load_decoders() -> None:
    """Import what every look needs: to be called before processes are forked that look."""
    import numpy  # noqa: F401
    from PIL import GifImagePlugin, JpegImagePlugin, PngImagePlugin, WebPImagePlugin  # noqa: F401


def _over(budget: Budget, found: DecodeResult) -> DecodeResult:
    return replace(found, seconds=budget.image_seconds, memory=budget.image_memory)


def _bytes(payload: bytes | Stored) -> bytes:
    return payload if isinstance(payload, bytes) else payload.read()
