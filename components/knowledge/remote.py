"""Sources over the network: asked in bounded concurrency, with retries, and never twice for what they once told.

An answer is kept as the service gave it (identifiers, labels, descriptions; not yet the word chosen from it), by question, in the
annotation store, so better rules ask nothing anew. "Nothing is known" is an answer and is kept; a failure is none: it is
told once in the log, not kept, and the next source is asked. After :data:`PATIENCE` failed requests in a row, or one
that no retry can fix (a refused key), a source is asked no more in this process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from components.core.digests import sha256_bytes
from components.core.result_cache import ResultCache
from components.knowledge.kinds import Known

log = logging.getLogger("hearsight.knowledge")
PATIENCE = 3
"""Failed requests in a row before a source is given up."""
MOST_BYTES = 8_000_000
"""Bytes of an answer."""
LONGEST_WAIT = 60.0
"""Seconds of Retry-After that are waited for; a service that asks for more is given up."""
AGAIN = frozenset({408, 429, 500, 502, 503, 504})


class Question(NamedTuple):
    """A named entity and its OntoNotes type."""

    name: str
    kind: str


@dataclass(frozen=True)
class Manners:
    """How a service is asked. Times in seconds."""

    timeout: float
    """For a whole answer."""
    retries: int
    backoff: float
    """Before the first retry; doubled for each further one."""
    connections: int
    """Requests at once."""
    user_agent: str


class Request(NamedTuple):
    """One HTTP request that asks a batch of questions (keys → questions)."""

    method: str
    url: str
    params: Mapping[str, str] | Sequence[tuple[str, str]]
    data: Mapping[str, str] | None
    batch: Mapping[str, Question]


class Failed(Exception):
    """A request failed: ``again`` whether trying once more may help, ``wait`` for how long the service asks to be left alone."""

    def __init__(self, why: str, *, again: bool, wait: float = 0.0) -> None:
        self.why, self.again, self.wait = why, again, wait
        super().__init__(why)


class Remote:
    """A source over the network. What differs between services is in the four methods that raise NotImplementedError."""

    name = ""
    version = 1
    codec = "json"

    def __init__(self, endpoint: str, manners: Manners, store: ResultCache) -> None:
        self.model, self.manners, self.store = endpoint, manners, store
        self.requests = 0
        """Requests made, retries included."""
        self.failures = 0
        """Requests that gave no answer in the end."""
        self.closed = ""
        """Why the source is asked no more, or ""."""
        self._row = 0
        self._memory: dict[str, Any] = {}

    # --- what a service must say

    def question(self, name: str, kind: str) -> str:
        """Return what of the question the answer depends on."""
        raise NotImplementedError

    def batches(self, questions: Mapping[str, Question]) -> Iterator[Request]:
        """Return the requests for some questions, by key."""
        raise NotImplementedError

    def parse(self, body: Any, batch: Mapping[str, Question]) -> dict[str, Any]:
        """Return an answer for every key of a batch; raises ValueError, KeyError or TypeError for what is no answer."""
        raise NotImplementedError

    def choose(self, answer: Any, name: str, kind: str) -> Known | None:
        """Return the hypernym that an answer tells."""
        raise NotImplementedError

    # --- what all have in common

    def known(self, name: str, kind: str) -> Known | None:
        """Return what the kept answers tell; asks nothing (:meth:`ask` does)."""
        key = self.key(name, kind)
        if key not in self._memory:
            self._memory.update(self.store.recall(self, [key]))
        answer = self._memory.get(key)
        return self.choose(answer, name, kind) if answer is not None else None

    def key(self, name: str, kind: str) -> str:
        """Return the key that an answer is kept under."""
        return sha256_bytes(self.question(name, kind).encode("utf-8", "replace"))

    def ask(self, questions: Iterable[Question]) -> dict[str, Any]:
        """Ask for what is not kept, keep what is told, and return all answers there are, by key."""
        wanted = {self.key(*each): each for each in sorted(set(questions))}
        found = self.store.recall(self, list(wanted))
        missing = {key: each for key, each in wanted.items() if key not in found}
        if missing:
            found |= asyncio.run(self._ask(list(self.batches(missing))))
        self._memory.update(found)
        return found

    async def _ask(self, requests: list[Request]) -> dict[str, Any]:
        import aiohttp

        told: dict[str, Any] = {}
        before = self.failures
        waiting = iter(requests)
        timeout = aiohttp.ClientTimeout(total=self.manners.timeout)
        headers = {"User-Agent": self.manners.user_agent, "Accept": "application/json"}
        async with aiohttp.ClientSession(timeout=timeout, headers=headers, trust_env=True) as session:

            async def work() -> None:
                for request in waiting:
                    if self.closed:
                        self.failures += 1
                        continue
                    answers = await self._answered(session, request)
                    if answers:
                        self.store.keep(self, answers)  # at once: a killed run has paid for nothing in vain
                        told.update(answers)

            await asyncio.gather(*(work() for _ in range(max(1, self.manners.connections))))
        if missed := self.failures - before:
            log.warning("knowledge: %s gave no answer to %d of %d requests", self.name, missed, len(requests))
        return told

    async def _answered(self, session: Any, request: Request) -> dict[str, Any]:
        """One request's answers, after retries; {} when it failed."""
        for attempt in range(self.manners.retries + 1):
            try:
                answers = await self._once(session, request)
                self._row = 0
                return answers
            except Failed as failed:
                last = failed
                if not failed.again or failed.wait > LONGEST_WAIT or self.closed or attempt == self.manners.retries:
                    break
                await asyncio.sleep(max(failed.wait, self.manners.backoff * 2**attempt))
        self.failures += 1
        self._row += 1
        given_up = not last.again or last.wait > LONGEST_WAIT or self._row >= PATIENCE
        if given_up and not self.closed:
            self.closed = last.why
            log.warning("knowledge: %s is asked no more in this run: %s", self.name, last.why)
        elif self._row == 1 and not self.closed:
            log.warning("knowledge: %s: %s; the next source is asked", self.name, last.why)
        return {}

    async def _once(self, session: Any, request: Request) -> dict[str, Any]:
        import aiohttp
        import orjson

        self.requests += 1
        try:
            async with session.request(
                request.method, request.url, params=request.params, data=request.data, allow_redirects=False
            ) as response:
                body = await response.content.read(MOST_BYTES + 1)
                while not response.content.at_eof() and len(body) <= MOST_BYTES:
                    body += await response.content.read(MOST_BYTES + 1 - len(body))
                status, headers = response.status, response.headers
        except TimeoutError:
            raise Failed(f"no answer in {self.manners.timeout:g} s", again=True) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # The class only: the text of some errors holds the address, and with it the key.
            raise Failed(f"no connection ({type(error).__name__})", again=True) from None
        if status != 200:
            raise Failed(f"HTTP {status}{_reason(body)}", again=status in AGAIN, wait=_seconds(headers.get("Retry-After", "")))
        if len(body) > MOST_BYTES:
            raise Failed(f"an answer of more than {MOST_BYTES} bytes", again=False)
        try:
            return self.parse(orjson.loads(body), request.batch)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise Failed(f"an answer that is none ({type(error).__name__})", again=True) from None


def _reason(body: bytes) -> str:
    """Google's error status ("RESOURCE_EXHAUSTED"), if the body tells one; no other text of it."""
    import orjson

    try:
        status = orjson.loads(body)["error"]["status"]
    except (ValueError, KeyError, TypeError, IndexError):
        return ""
    plain = isinstance(status, str) and len(status) < 40 and status.replace("_", "").isalpha()
    return f" {status}" if plain else ""


def _seconds(text: str) -> float:
    """Retry-After in seconds: a number, or a date."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    if text.strip().isdigit():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0
