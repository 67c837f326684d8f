"""Sources over the network: bounded concurrency, retries, and stored answers.

An answer is stored by question as the service gave it (identifiers, labels, descriptions, before a hypernym is chosen), so
that changed rules need no new requests. An empty answer is stored too. A failure is not: it is logged once, and the next
source of the cascade is used. After :data:`PATIENCE` failed requests in a row, or one that no retry can fix (a refused key), a
source is closed for this process.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import orjson

from components.core.digests import sha256_bytes
from components.core.params import Settings
from components.core.result_cache import ResultCache
from components.knowledge.kinds import HypernymAnswer

log = logging.getLogger("hearsight.knowledge")
PATIENCE = 3
"""Failed requests in a row after which a source is closed."""
MOST_BYTES = 8_000_000
"""Maximum bytes of an answer."""
LONGEST_WAIT = 60.0
"""Maximum seconds of Retry-After; a longer value closes the source."""
RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


class Question(NamedTuple):
    """A named entity and its OntoNotes type."""

    name: str
    kind: str


class KnowledgeSettings(Settings):
    """What the sources beyond the embedded one need."""

    index: str = ""
    """Folder of the local index of Wikidata, absolute or from the project's root."""
    google: str = "https://kgsearch.googleapis.com/v1/entities:search"
    """Address of Google's Knowledge Graph Search API."""
    timeout: float = 60.0
    """Seconds for a whole answer. Ours."""
    retries: int = 3
    """Tries after the first. Ours."""
    backoff: float = 1.0
    """Seconds before the first retry, doubled for each further one. Ours."""
    connections: int = 2
    """Requests at once. Ours."""


class Failed(Exception):
    """A request failed; ``again``: whether a retry may help; ``wait``: seconds of Retry-After."""

    def __init__(self, why: str, *, again: bool, wait: float = 0.0) -> None:
        self.why, self.again, self.wait = why, again, wait
        super().__init__(why)


class Remote:
    """A source over the network. Subclasses implement the four methods that raise NotImplementedError."""

    name = ""
    version = 1
    codec = "json"

    def __init__(self, settings: KnowledgeSettings, store: ResultCache) -> None:
        self.model: str = getattr(settings, self.name)
        """The service's address, which the setting of the source's name holds."""
        self.settings, self.store = settings, store
        self.requests = 0
        """Requests made, retries included."""
        self.failures = 0
        """Requests without an answer after all retries."""
        self.closed = ""
        """Why the source is closed, or ""."""
        self._failures_in_a_row = 0
        self._memory: dict[str, Any] = {}

    # --- implemented by each service

    def question(self, name: str, kind: str) -> str:
        """Return the part of the question that determines the answer."""
        raise NotImplementedError

    def parameters(self, question: Question) -> Sequence[tuple[str, str]]:
        """Return the parameters of the request for a question."""
        raise NotImplementedError

    def parse(self, body: Any) -> Any:
        """Return the answer in a body; raise ValueError, KeyError or TypeError for an invalid one."""
        raise NotImplementedError

    def choose(self, answer: Any, name: str, kind: str) -> HypernymAnswer | None:
        """Return the hypernym that an answer gives, or None."""
        raise NotImplementedError

    # --- common

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        """Return the hypernym from stored answers; sends no request (:meth:`ask` does)."""
        key = self.key(name, kind)
        if key not in self._memory:
            self._memory.update(self.store.read(self, [key]))
        answer = self._memory.get(key)
        return self.choose(answer, name, kind) if answer is not None else None

    def key(self, name: str, kind: str) -> str:
        """Return the key of a stored answer."""
        return sha256_bytes(self.question(name, kind).encode("utf-8", "replace"))

    def ask(self, questions: Iterable[Question]) -> dict[str, Any]:
        """Request the answers that are not stored, store them, and return all available answers by key."""
        by_key = {self.key(*question): question for question in sorted(set(questions))}
        answers = self.store.read(self, list(by_key))
        missing = {key: question for key, question in by_key.items() if key not in answers}
        if missing:
            answers |= asyncio.run(self._ask(missing))
        self._memory.update(answers)
        return answers

    async def _ask(self, questions: Mapping[str, Question]) -> dict[str, Any]:
        # Imported on use, here and below: slow to load, and needed by network sources only.
        import aiohttp

        received: dict[str, Any] = {}
        before = self.failures
        pending = iter(questions.items())
        timeout = aiohttp.ClientTimeout(total=self.settings.timeout)
        headers = {"User-Agent": "hearsight/0.1", "Accept": "application/json"}
        async with aiohttp.ClientSession(timeout=timeout, headers=headers, trust_env=True) as session:

            async def work() -> None:
                for key, question in pending:
                    if self.closed:
                        self.failures += 1
                        continue
                    answer = await self._request(session, question)
                    if answer is not None:
                        self.store.write(self, {key: answer})  # immediately, so that a killed run loses no paid answer
                        received[key] = answer

            await asyncio.gather(*(work() for _ in range(max(1, self.settings.connections))))
        if missed := self.failures - before:
            log.warning("knowledge: %s gave no answer to %d of %d requests", self.name, missed, len(questions))
        return received

    async def _request(self, session: Any, question: Question) -> Any:
        """Return the answer to one question, after retries; None when the request failed."""
        for attempt in range(self.settings.retries + 1):
            try:
                answer = await self._once(session, question)
                self._failures_in_a_row = 0
                return answer
            except Failed as failed:
                last = failed
                if not failed.again or failed.wait > LONGEST_WAIT or self.closed or attempt == self.settings.retries:
                    break
                await asyncio.sleep(max(failed.wait, self.settings.backoff * 2**attempt))
        self.failures += 1
        self._failures_in_a_row += 1
        given_up = not last.again or last.wait > LONGEST_WAIT or self._failures_in_a_row >= PATIENCE
        if given_up and not self.closed:
            self.closed = last.why
            log.warning("knowledge: %s is not used any more in this run: %s", self.name, last.why)
        elif self._failures_in_a_row == 1 and not self.closed:
            log.warning("knowledge: %s: %s; the next source is used", self.name, last.why)
        return None

    async def _once(self, session: Any, question: Question) -> Any:
        # Imported here: only sources on the network need it.
        import aiohttp

        self.requests += 1
        try:
            async with session.get(self.model, params=self.parameters(question), allow_redirects=False) as response:
                body = await response.content.read(MOST_BYTES + 1)
                while not response.content.at_eof() and len(body) <= MOST_BYTES:
                    body += await response.content.read(MOST_BYTES + 1 - len(body))
                status, headers = response.status, response.headers
        except TimeoutError:
            raise Failed(f"no answer in {self.settings.timeout:g} s", again=True) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # Only the class: the text of some errors contains the address with the key.
            raise Failed(f"no connection ({type(error).__name__})", again=True) from None
        if status != 200:
            raise Failed(
                f"HTTP {status}{_reason(body)}", again=status in RETRY_STATUSES, wait=_seconds(headers.get("Retry-After", ""))
            )
        if len(body) > MOST_BYTES:
            raise Failed(f"an answer of more than {MOST_BYTES} bytes", again=False)
        try:
            return self.parse(orjson.loads(body))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise Failed(f"an invalid answer ({type(error).__name__})", again=True) from None


def _reason(body: bytes) -> str:
    """Return Google's error status ("RESOURCE_EXHAUSTED") from the body, or nothing; no other text of it."""
    try:
        status = orjson.loads(body)["error"]["status"]
    except (ValueError, KeyError, TypeError, IndexError):
        return ""
    plain = isinstance(status, str) and len(status) < 40 and status.replace("_", "").isalpha()
    return f" {status}" if plain else ""


def _seconds(text: str) -> float:
    """Return Retry-After, a number or a date, in seconds."""
    if text.strip().isdigit():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0
