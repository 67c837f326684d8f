"""Cache of expensive results, keyed by content, model and the annotator's version.

A result depends only on its payload and the model, so it stays valid when thresholds, shards or splits change. Each annotator has
one SQLite file (:mod:`components.core.result_files`).
"""

from __future__ import annotations

import io
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from components.core.errors import HearsightError
from components.core.result_files import REPAIR, CacheBackend, Opener, explain_errors, open_key_locks, sqlite_backend
from components.core.view_arrays import compress, decompress, npy_bytes

BATCH = 64
"""Results in one transaction, which a kill can lose. An annotator's attribute ``held`` overrides it."""


@runtime_checkable
class Annotator(Protocol):
    """Computes one expensive result from one payload. The result depends on the payload only."""

    name: str
    """Name of its results, e.g. ``parse.en``."""
    version: int
    """Raised by hand when its results change; ``tests/core/test_annotators.py`` enforces it."""
    model: str
    """The model's name and version."""
    codec: str
    """``json``, ``array`` (numpy), ``compressed-array`` or ``bytes``."""

    def compute(self, payload: Any) -> Any:
        """Return the result for one payload; the first call loads the model."""


@runtime_checkable
class BatchAnnotator(Annotator, Protocol):
    """An annotator that is faster on several payloads at a time, with the same results."""

    def compute_many(self, payloads: Sequence[Any]) -> Sequence[Any]:
        """Return the result for each payload, in order."""


@runtime_checkable
class PaidAnnotator(Annotator, Protocol):
    """An annotator that sends payloads to a paid service, several at a time."""

    def ask_many(self, payloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """Yield (key, result) for each (key, payload), in any order; results yielded before an error are stored.

        With a method ``is_lasting(result)``, a stored result for which it is False is asked for again.
        """


class ResultKind(Protocol):
    """Identity of a cache file: an :class:`Annotator`, or another object whose results are stored by key."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def model(self) -> str: ...
    @property
    def codec(self) -> str: ...


class ResultCache:
    """The cache files of all annotators in one folder.

    Args:
        opener: opens the files.
    """

    def __init__(self, folder: Path, opener: Opener = sqlite_backend) -> None:
        self.folder, self._open = folder, opener
        self.computed: dict[str, int] = {}
        """Annotator name → number of computed results; empty when all were cached."""

    def annotate(self, annotator: Annotator, payloads: Mapping[str, Any | Callable[[], Any]]) -> dict[str, Any]:
        """Return the result for each payload; results that are not cached are computed and stored.

        Args:
            payloads: content digest → payload, or a function that returns it (called only when it is needed).

        Raises:
            HearsightError: the cache cannot be read or written (disk full, not a database).
        """
        encode, decode = CODECS[annotator.codec]
        path = self._path(annotator)
        # A paid result is stored at once and durably, so a kill loses only requests in flight.
        paid = isinstance(annotator, PaidAnnotator)
        size = 1 if paid else getattr(annotator, "held", BATCH)
        with explain_errors(path), self._open(path) as backend:
            # A damaged result is computed again and replaced, unless it was paid for.
            found = {key: decode(blob) for key, blob in _read_verified(backend, list(payloads), path, skip=not paid)}
            is_lasting = getattr(annotator, "is_lasting", lambda result: True)
            found = {key: result for key, result in found.items() if is_lasting(result)}
            missing = {key: payload for key, payload in payloads.items() if key not in found}
            if isinstance(annotator, PaidAnnotator):
                results = _request_results(
                    annotator,
                    missing,
                    lambda key: list(filter(is_lasting, (decode(blob) for _, blob in _read_verified(backend, [key], path)))),
                    path,
                )
            else:
                results = _compute_results(annotator, missing)
            rows: list[tuple[str, bytes, int]] = []
            try:
                for key, result in results:
                    blob = encode(result)
                    rows.append((key, blob, zlib.crc32(blob)))
                    # Decoded from the stored bytes, so computed and cached results are equal.
                    found[key] = decode(blob)
                    if len(rows) >= size:
                        self._keep(backend, annotator, rows, durable=paid)
            finally:
                self._keep(backend, annotator, rows, durable=paid)
        return {key: found[key] for key in payloads}

    def read(self, kind: ResultKind, keys: Sequence[str]) -> dict[str, Any]:
        """Return the cached results among ``keys``; computes nothing. Raises as :meth:`annotate`."""
        decode, path = CODECS[kind.codec][1], self._path(kind)
        if not self._may_exist(path):
            return {}
        with explain_errors(path), self._open(path) as backend:
            return {key: decode(blob) for key, blob in _read_verified(backend, list(dict.fromkeys(keys)), path)}

    def find_missing(self, kind: ResultKind, keys: Sequence[str]) -> list[str]:
        """Return those of ``keys`` without a result, in order; reads no result. Raises as :meth:`annotate`."""
        path, keys = self._path(kind), list(dict.fromkeys(keys))
        if not self._may_exist(path):
            return keys
        with explain_errors(path), self._open(path) as backend:
            cached = set(backend.has(keys))
        return [key for key in keys if key not in cached]

    def write(self, kind: ResultKind, results: Mapping[str, Any]) -> None:
        """Store results from elsewhere (answers of a service) in one durable transaction."""
        encode, path = CODECS[kind.codec][0], self._path(kind)
        blobs = {key: encode(value) for key, value in results.items()}
        with explain_errors(path), self._open(path) as backend:
            backend.write([(key, blob, zlib.crc32(blob)) for key, blob in blobs.items()], durable=True)

    def _may_exist(self, path: Path) -> bool:
        """Return whether a cache file exists; one that another process serves may."""
        return self._open is not sqlite_backend or path.exists()

    def _path(self, kind: ResultKind) -> Path:
        return self.folder / f"{kind.name}-v{kind.version}-{_slug(kind.model)}.sqlite"

    def _keep(self, backend: CacheBackend, annotator: Annotator, rows: list[tuple[str, bytes, int]], *, durable: bool) -> None:
        batch = rows[:]
        rows.clear()
        if batch:
            backend.write(batch, durable=durable)
            self.computed[annotator.name] = self.computed.get(annotator.name, 0) + len(batch)


def _read_verified(backend: CacheBackend, keys: Sequence[str], path: Path, *, skip: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield the cached results whose bytes match their checksum.

    Raises:
        HearsightError: a result is damaged; with ``skip`` it is left out, with a warning.
    """
    for key, blob, crc in backend.read(keys):
        if isinstance(blob, bytes) and zlib.crc32(blob) == crc:
            yield key, blob
        elif skip:
            print(f"hearsight: warning: {path}: the cached result {key} is damaged and computed again", file=sys.stderr)
        else:
            raise HearsightError(f"the cached result {key} is damaged", where=path, hint=REPAIR)


def _request_results(
    annotator: PaidAnnotator,
    payloads: Mapping[str, Any | Callable[[], Any]],
    stored: Callable[[str], list[Any]],
    path: Path,
) -> Iterator[tuple[str, Any]]:
    """Yield the results of a paid annotator; no two processes request the same key at a time.

    ``stored`` looks up a key again, since another process may have stored it meanwhile.
    """
    locked_elsewhere: list[str] = []
    stored_meanwhile: list[tuple[str, Any]] = []
    with open_key_locks(path.with_suffix(".claims")) as locks:

        def unlocked() -> Iterator[tuple[str, Any]]:
            for key, payload in payloads.items():
                if not locks.acquire(key):
                    locked_elsewhere.append(key)
                elif results := stored(key):
                    locks.release(key)
                    stored_meanwhile.append((key, results[0]))
                else:
                    yield key, _payload(payload)

        for key, result in annotator.ask_many(unlocked()):
            yield key, result
            # The caller has stored it by now.
            locks.release(key)
        yield from stored_meanwhile
        # This process holds no lock here, so two processes never wait for each other.
        for key in locked_elsewhere:
            locks.acquire(key, wait=True)
            if results := stored(key):
                yield key, results[0]
            else:
                yield from annotator.ask_many([(key, _payload(payloads[key]))])
            locks.release(key)


def _payload(payload: Any | Callable[[], Any]) -> Any:
    return payload() if callable(payload) else payload


def _compute_results(annotator: Annotator, payloads: Mapping[str, Any | Callable[[], Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the results in order; loads one payload at a time unless the annotator takes batches."""
    keys = iter(payloads)
    while batch := list(islice(keys, BATCH)):
        loaded = (_payload(payloads[key]) for key in batch)
        if isinstance(annotator, BatchAnnotator):
            yield from zip(batch, annotator.compute_many(list(loaded)), strict=True)
        else:
            yield from zip(batch, map(annotator.compute, loaded), strict=True)


def _slug(text: str) -> str:
    return "".join(char if char.isalnum() or char in ".-" else "_" for char in text)


def _from_array(blob: bytes) -> Any:
    return np.load(io.BytesIO(blob), allow_pickle=False)


CODECS: dict[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]] = {
    "json": (lambda value: json.dumps(value, sort_keys=True).encode(), json.loads),
    "array": (npy_bytes, _from_array),
    "compressed-array": (lambda value: compress(npy_bytes(value)), lambda blob: _from_array(decompress(blob))),
    "bytes": (bytes, bytes),
}
