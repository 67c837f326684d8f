"""Asks a Google Cloud service over REST: several requests at a time, in batches, again where that may help.

What an answer means is ``google_judge``'s matter. When nothing more will be answered (a quota used up, a service that
is down), no new request is made, those on their way are waited for and their answers handed on, and then the error is
raised: nothing that was paid for is lost.
An answer that is no answer (truncated JSON, another form) is asked for again; an item that gets nothing else is
refused by that, but not when requests in a row all end so, which is a broken proxy and no item's fault.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.params import Settings
from components.google.credentials import WHERE, Credentials, find_credentials
from components.google.method import INVALID_ARGUMENT, Method, refused
from components.google.responses import KEPT, NAMES, TRANSIENT, Verdict, judge
from components.google.shutdown import Together
from components.google.usage import REQUESTS, Usage

ADDRESSES = {
    "language": ("GOOGLE_LANGUAGE_ENDPOINT", "https://language.googleapis.com"),
    "vision": ("GOOGLE_VISION_ENDPOINT", "https://vision.googleapis.com"),
    "texttospeech": ("GOOGLE_TEXTTOSPEECH_ENDPOINT", "https://texttospeech.googleapis.com"),
}
"""Service → the environment variable that overrides its address, and the address."""
MOST_WAIT = 300.0
"""Seconds that we wait when Google asks for it; for longer the run ends."""
MOST_ANSWER = 64_000_000
"""Bytes of an answer that are read."""
IN_A_ROW = 3
"""Requests in a row without one sound answer that are not the items' fault."""

Pairs = list[tuple[str, dict[str, Any]]]
Batch = Sequence[tuple[str, str]]


class Asking(Settings):
    """How Google is asked; it never changes what comes out."""

    at_once: int
    """Requests of one worker at a time."""
    timeout: float
    """s until an answer must be whole."""
    retries: int
    """How often a request is made again."""
    backoff: float
    """s before the first of them; doubled each time."""


@dataclass
class Outcome:
    """What came of one batch."""

    pairs: Pairs = field(default_factory=list)
    nonsense: Pairs = field(default_factory=list)
    """Refusals of items that got no sound answer."""
    stop: HearsightError | None = None


class GoogleClient:
    """One process's way to ask Google; nothing is asked or looked for before the first :meth:`ask`.

    Args:
        asking: how.
        folder: scratch that the workers of one run share: what is asked is counted there, and they end together.
    """

    def __init__(self, asking: Asking, folder: Path | None = None) -> None:
        self.asking = asking
        self.usage = Usage(folder) if folder is not None else None
        self.together = Together(folder) if folder is not None else None
        self._credentials: Credentials | None = None
        self._stopping = False

    def ask(self, method: Method, payloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """(key, answer) for each (key, payload), as the answers come.

        Raises:
            HearsightError: no credentials, no quota, no right, or no answer after every retry.
        """
        batches = _batches(method, payloads)
        first = next(batches, None)
        if first is None:
            return
        self._stopping = False
        self._credentials = self._credentials or find_credentials()
        if self.together is None:
            yield from self._ask(method, first, batches)
            return
        try:
            with self.together.asking():
                yield from self._ask(method, first, batches)
        except HearsightError as error:
            self.together.stop(error)
            self.together.wait(self.asking.timeout)
            raise

    def _ask(self, method: Method, first: Batch, batches: Iterator[Batch]) -> Iterator[tuple[str, dict[str, Any]]]:
        url = address(method.service) + method.path
        loop = asyncio.new_event_loop()
        session: Any = None
        tasks: set[asyncio.Task[Outcome]] = set()
        held: Pairs = []
        stop: HearsightError | None = None
        unsound = 0
        try:
            session = loop.run_until_complete(self._session(url))
            waiting: Batch | None = first
            while waiting is not None or tasks:
                while waiting is not None and stop is None and len(tasks) < self.asking.at_once:
                    if waiting[0][1]:
                        tasks.add(loop.create_task(self._post(session, url, method, waiting)))
                    else:
                        yield waiting[0][0], refused(INVALID_ARGUMENT, "not asked: blank, empty or not to be read")
                    try:
                        waiting = next(batches, None)
                    except HearsightError as error:
                        stop = error
                stop = stop or (self.together.stopped() if self.together else None)
                if stop is not None:
                    waiting, self._stopping = None, True
                    if self.together:
                        self.together.stop(stop)
                if not tasks:
                    continue
                done, tasks = loop.run_until_complete(asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED))
                for outcome in (task.result() for task in done):
                    if outcome.pairs:
                        yield from outcome.pairs
                        yield from held
                        held, unsound = [], 0
                    if outcome.nonsense:
                        held, unsound = held + outcome.nonsense, unsound + 1
                    if unsound >= IN_A_ROW and stop is None:
                        what = f"{NAMES[method.service]} gives no sound answers ({held[-1][1]['error']['message']})"
                        stop = HearsightError(what, where=url, hint=f"look for a proxy in between, then {KEPT}")
                    stop = stop or outcome.stop
            if stop is not None:
                raise stop
            yield from held
        finally:
            loop.run_until_complete(_close(tasks, session))
            loop.close()

    async def _session(self, url: str) -> Any:
        import aiohttp

        return aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=self.asking.timeout), trust_env=url.startswith("https:"), auto_decompress=True
        )

    async def _post(self, session: Any, url: str, method: Method, batch: Batch) -> Outcome:
        """One batch to its end: answered, refused, or given up."""
        outcome, left, tries = Outcome(), list(batch), 0
        while True:
            try:
                verdict = await self._once(session, url, method, [item for _, item in left])
            except HearsightError as error:
                outcome.stop = error
                return outcome
            if verdict.kind == "answer":
                answers = _answers(method, verdict.answer, len(left))
                if isinstance(answers, str):
                    verdict = Verdict("nonsense", {}, answers)
                else:
                    good = [(key, item, said) for (key, item), said in zip(left, answers, strict=True) if not _passing(said)]
                    self._count(method, [item for _, item, said in good if "error" not in said])
                    outcome.pairs += [(key, said) for key, _, said in good]
                    done = {key for key, _, _ in good}
                    left = [(key, item) for key, item in left if key not in done]
                    if not left:
                        return outcome
                    verdict = Verdict("again", {}, "an error that may pass for some of the pictures")
            final = tries >= self.asking.retries or self._stopping
            if verdict.kind == "refused" or (verdict.kind == "nonsense" and final and not self._stopping):
                return await self._settle(session, url, method, left, verdict, outcome)
            if final or verdict.wait > MOST_WAIT:
                what = f"{NAMES[method.service]} did not answer in {tries + 1} tries ({verdict.why})"
                outcome.stop = HearsightError(what, where=url, hint=KEPT)
                return outcome
            await self._pause(max(verdict.wait, self.asking.backoff * 2**tries * random.uniform(0.75, 1.25)))
            tries += 1

    async def _settle(self, session: Any, url: str, method: Method, left: Batch, verdict: Verdict, outcome: Outcome) -> Outcome:
        """A whole request was refused: find out whose fault that was, one item a request."""
        if len(left) == 1:
            pairs = outcome.pairs if verdict.kind == "refused" else outcome.nonsense
            pairs.append((left[0][0], refused(INVALID_ARGUMENT, verdict.why)))
            return outcome
        for one in left:
            if outcome.stop is not None:
                break
            single = await self._post(session, url, method, [one])
            outcome.pairs += single.pairs
            outcome.nonsense += single.nonsense
            outcome.stop = single.stop
        return outcome

    async def _once(self, session: Any, url: str, method: Method, items: Sequence[str]) -> Verdict:
        import aiohttp

        assert self._credentials is not None
        headers = {"Content-Type": "application/json; charset=utf-8", **self._credentials.headers()}
        body = json.dumps(method.body(items)).encode()
        self._count(method, [], requests=1)
        try:
            async with session.post(url, data=body, headers=headers, allow_redirects=False) as response:
                content = await _read(response.content)
                return judge(method.service, response.status, response.headers, content)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            return Verdict("again", {}, f"{type(error).__name__} {error}".strip()[:160])

    async def _pause(self, seconds: float) -> None:
        """Wait, but not on when the run is ending."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not self._stopping and (rest := end - loop.time()) > 0:
            await asyncio.sleep(min(rest, 0.1))

    def _count(self, method: Method, items: Sequence[str], requests: int = 0) -> None:
        if self.usage is None:
            return
        counts = {REQUESTS: requests} if requests else {}
        for item in items:
            for feature, units in method.units(item).items():
                counts[feature] = counts.get(feature, 0) + units
        if counts:
            self.usage.add(counts)


def address(service: str) -> str:
    """Where a service is asked.

    Raises:
        HearsightError: the environment names an address that would send the key in the clear.
    """
    variable, usual = ADDRESSES[service]
    given = (os.environ.get(variable) or usual).rstrip("/")
    scheme, _, rest = given.partition("://")
    host = rest.partition("/")[0].rpartition(":")[0] or rest.partition("/")[0]
    if scheme != "https" and not (scheme == "http" and host in ("127.0.0.1", "localhost", "[::1]")):
        raise HearsightError(f"{variable} is '{given}'", where=WHERE, hint="give an https address, or one on loopback")
    return given


def _batches(method: Method, payloads: Iterable[tuple[str, Any]]) -> Iterator[Batch]:
    """Items for one request each, as many as it may hold; an item that cannot be asked comes alone, as ""."""
    batch: list[tuple[str, str]] = []
    size = 0
    for key, payload in payloads:
        item = method.item(payload)
        if not item or len(item) > method.room:
            yield [(key, "")]
            continue
        if batch and (len(batch) >= method.most or size + len(item) > method.room):
            yield batch
            batch, size = [], 0
        batch.append((key, item))
        size += len(item)
        if len(batch) >= method.most:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _answers(method: Method, answer: dict[str, Any], number: int) -> list[dict[str, Any]] | str:
    """The answer to each item, or what is wrong with them."""
    form = "an answer of another form than the documented one"
    try:
        found = method.answers(answer, number)
    except RecursionError:
        return form
    except ValueError as error:
        return str(error)
    return form if found is None else found


def _passing(said: dict[str, Any]) -> bool:
    error = said.get("error")
    return isinstance(error, dict) and error.get("code") in TRANSIENT


async def _read(stream: Any) -> bytes:
    pieces: list[bytes] = []
    size = 0
    async for piece in stream.iter_chunked(1 << 16):
        size += len(piece)
        if size > MOST_ANSWER:
            raise ValueError("an answer of more than 64 MB")
        pieces.append(piece)
    return b"".join(pieces)


async def _close(tasks: set[asyncio.Task[Outcome]], session: Any) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if session is not None:
        await session.close()
