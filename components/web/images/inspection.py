"""Decode many images, each within a budget of CPU time and memory: an image that exceeds it affects no other.

Results are cached by the image's sha256, whatever the budget. A result for an exceeded budget states that budget, so the image is
decoded again under a larger one; a smaller budget drops no image known to be good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Protocol

from PIL import Image

from components.core.digests import sha256_bytes
from components.core.result_cache import ResultCache
from components.execution.limits import ItemFailure, run_limited
from components.web.budget import Budget
from components.web.images.head import Head, find_exceeded_limit, read_head
from components.web.images.image import DecodeResult, decode_image

_DEFAULT = Budget()


class Stored(Protocol):
    """An image that is read where it is decoded, so that a batch is never in memory at once."""

    def read(self) -> bytes:
        """Return its bytes."""


@dataclass(frozen=True)
class ImageLook:
    """:func:`components.web.images.image.decode_image` as an annotator, within a budget."""

    budget: Budget = _DEFAULT
    name = "image.look"
    version = 7
    model = "pillow-12"
    codec = "json"

    def compute(self, payload: bytes | Stored) -> dict[str, Any]:
        """Return the decode result of one image as plain values."""
        return self.compute_many([payload])[0]

    def compute_many(self, payloads: Sequence[bytes | Stored]) -> list[dict[str, Any]]:
        """Return the decode result of each image as plain values; raises what reading a payload raises."""
        results = self._run(payloads)
        # If the machine itself lacks memory, any process may be killed: one retry is cheap.
        crashed = [index for index, result in enumerate(results) if result == ItemFailure("crash")]
        for index, retried in zip(crashed, self._run([payloads[index] for index in crashed]), strict=True):
            results[index] = retried
        return [
            self.result_over(result, payload) if isinstance(result, ItemFailure) else asdict(result)
            for result, payload in zip(results, payloads, strict=True)
        ]

    def _run(self, payloads: Sequence[bytes | Stored]) -> list[DecodeResult | ItemFailure]:
        decode = partial(decode_within, self.budget)
        return run_limited(decode, payloads, seconds=self.budget.image_seconds, memory=self.budget.image_memory)

    def result_over(self, over: ItemFailure, payload: bytes | Stored) -> dict[str, Any]:
        """Return the decode result of an image that exceeds the budget, as plain values."""
        data = _bytes(payload)
        head = read_head(data, last=True) or Head("")
        size = (head.format, head.width, head.height)
        return asdict(
            _with_budget(self.budget, DecodeResult("image_over_budget", over.reason, *size, "", len(data), sha256_bytes(data)))
        )


def decode_all(annotations: ResultCache, budget: Budget, payloads: Mapping[str, bytes | Stored]) -> dict[str, dict[str, Any]]:
    """Return image sha256 → decode result as plain values: cached ones that hold under ``budget``, others decoded now.

    Errors as for :meth:`ResultCache.annotate`.
    """
    annotator = ImageLook(budget)
    results = annotations.annotate(annotator, payloads)
    outdated = [sha for sha, result in results.items() if _exceeded_smaller_budget(result, budget)]
    if outdated:
        fresh = dict(zip(outdated, annotator.compute_many([payloads[sha] for sha in outdated]), strict=True))
        annotations.write(annotator, fresh)
        results |= fresh
    return results


def _exceeded_smaller_budget(result: Mapping[str, Any], budget: Budget) -> bool:
    """Return whether an image was refused under a smaller budget than ``budget``."""
    if result["reason"] == "image_too_large":
        return not find_exceeded_limit(result["width"], result["height"], pixels=budget.image_pixels, side=budget.image_side)
    if result["reason"] != "image_over_budget":
        return False
    larger = {"cpu": budget.image_seconds > result["seconds"], "memory": budget.image_memory > result["memory"]}
    return larger.get(result["detail"], any(larger.values()))


def decode_within(budget: Budget, payload: bytes | Stored) -> DecodeResult:
    """Decode one image, in a process that is limited to the budget's time and memory; raises MemoryError."""
    Image.MAX_IMAGE_PIXELS = None  # the budget's limit applies
    result = decode_image(_bytes(payload), budget)
    return _with_budget(budget, result) if result.reason == "image_over_budget" else result


def _with_budget(budget: Budget, result: DecodeResult) -> DecodeResult:
    return replace(result, seconds=budget.image_seconds, memory=budget.image_memory)


def _bytes(payload: bytes | Stored) -> bytes:
    return payload if isinstance(payload, bytes) else payload.read()
