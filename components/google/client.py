"""Asks a Google Cloud service through Google's client library: several requests at a time, in batches, again where that may help.

What a failure means is ``google_judge``'s matter. When nothing more will be answered (a quota used up, a service that
is down), no new request is made, those on their way are waited for and their answers handed on, and then the error is
raised: nothing that was paid for is lost.
An answer that is no answer (truncated JSON, another form) is asked for again; an item that gets nothing else is
refused by that, but not when requests in a row all end so, which is a broken proxy and no item's fault.
The retries are ours: ``google.api_core.retry`` counts no tries, ignores Retry-After and sleeps on when the run is ending.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from threading import Event
from typing import Any

from components.core.errors import HearsightError
from components.google.credentials import WHERE, find_credentials
from components.google.method import INVALID_ARGUMENT, Method, refused
from components.google.responses import KEPT, NAMES, TRANSIENT, Verdict, judge
from components.google.settings import Asking
from components.google.shutdown import Together
from components.google.usage import REQUESTS, Usage

ADDRESSES = {
    "language": ("GOOGLE_LANGUAGE_ENDPOINT", "https://language.googleapis.com"),
    "vision": ("GOOGLE_VISION_ENDPOINT", "https://vision.googleapis.com"),
    "texttospeech": ("GOOGLE_TEXTTOSPEECH_ENDPOINT", "https://texttospeech.googleapis.com"),
}
"""Service → the environment variable that overrides its address, and the address."""
LIBRARIES = {
    "language": "google.cloud.language_v1:LanguageServiceClient",
    "vision": "google.cloud.vision_v1:ImageAnnotatorClient",
    "texttospeech": "google.cloud.texttospeech_v1:TextToSpeechClient",
}
"""Service → the class of the extra ``google`` that asks it."""
MOST_WAIT = 300.0
"""Seconds that we wait when Google asks for it; for longer the run ends."""
IN_A_ROW = 3
"""Requests in a row without one sound answer that are not the items' fault."""

Pairs = list[tuple[str, dict[str, Any]]]
Batch = Sequence[tuple[str, Any]]
Call = Callable[[Sequence[Any]], dict[str, Any]]
"""One request for some items: Google's answer in its JSON form."""


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
        self._libraries: dict[str, Any] = {}
        self._stopping = Event()

    def ask(self, method: Method, payloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """(key, answer) for each (key, payload), as the answers come.

        Raises:
            HearsightError: no credentials, no quota, no right, or no answer after every retry.
        """
        batches = _batches(method, payloads)
        first = next(batches, None)
        if first is None:
            return
        self._stopping.clear()
        call = self._call(method)
        if self.together is None:
            yield from self._ask(method, call, first, batches)
            return
        try:
            with self.together.asking():
                yield from self._ask(method, call, first, batches)
        except HearsightError as error:
            self.together.stop(error)
            self.together.wait(self.asking.timeout)
            raise

    def _call(self, method: Method) -> Call:
        """Requests of one method, made by the library of its service; safe in threads."""
        url = address(method.service)
        if method.service not in self._libraries:
            credentials = find_credentials()
            # Imported here: half a second, and an extra that only users of Google install.
            library = resolve_name(LIBRARIES[method.service])
            opened = library(credentials=credentials, transport="rest", client_options={"api_endpoint": url})
            session = opened.transport._session  # no public name; the tests hold its effects
            session.max_redirects = 0  # another address would be sent the key
            session.trust_env = url.startswith("https:")  # no proxy to loopback
            for adapter in session.adapters.values():
                adapter.init_poolmanager(1, self.asking.at_once)  # a connection a thread
            self._libraries[method.service] = opened
        request = getattr(self._libraries[method.service], method.rpc)

        def call(items: Sequence[Any]) -> dict[str, Any]:
            said = request(request=method.body(items), retry=None, timeout=self.asking.timeout)
            form = {"preserving_proto_field_name": False, "use_integers_for_enums": False}
            answer: dict[str, Any] = type(said).to_dict(said, always_print_fields_with_no_presence=False, **form)
            return answer

        return call

    def _ask(self, method: Method, call: Call, first: Batch, batches: Iterator[Batch]) -> Iterator[tuple[str, dict[str, Any]]]:
        tasks: set[Future[Outcome]] = set()
        held: Pairs = []
        stop: HearsightError | None = None
        unsound = 0
        with ThreadPoolExecutor(self.asking.at_once) as pool:
            try:
                waiting: Batch | None = first
                while waiting is not None or tasks:
                    while waiting is not None and stop is None and len(tasks) < self.asking.at_once:
                        if waiting[0][1]:
                            tasks.add(pool.submit(self._post, call, method, waiting))
                        else:
                            yield waiting[0][0], refused(INVALID_ARGUMENT, "not asked: blank, empty or not to be read")
                        try:
                            waiting = next(batches, None)
                        except HearsightError as error:
                            stop = error
                    stop = stop or (self.together.stopped() if self.together else None)
                    if stop is not None:
                        waiting = None
                        self._stopping.set()
                        if self.together:
                            self.together.stop(stop)
                    if not tasks:
                        continue
                    done, tasks = wait(tasks, return_when=FIRST_COMPLETED)
                    for outcome in (task.result() for task in done):
                        if outcome.pairs:
                            yield from outcome.pairs
                            yield from held
                            held, unsound = [], 0
                        if outcome.nonsense:
                            held, unsound = held + outcome.nonsense, unsound + 1
                        if unsound >= IN_A_ROW and stop is None:
                            what = f"{NAMES[method.service]} gives no sound answers ({held[-1][1]['error']['message']})"
                            hint = f"look for a proxy in between, then {KEPT}"
                            stop = HearsightError(what, where=address(method.service), hint=hint)
                        stop = stop or outcome.stop
                if stop is not None:
                    raise stop
                yield from held
            finally:
                self._stopping.set()

    def _post(self, call: Call, method: Method, batch: Batch) -> Outcome:
        """One batch to its end: answered, refused, or given up."""
        outcome, left, tries = Outcome(), dict(batch), 0
        while True:
            try:
                verdict = self._once(call, method, left, outcome)
            except HearsightError as error:
                outcome.stop = error
                return outcome
            if not left:
                return outcome
            stopping = self._stopping.is_set()
            final = tries >= self.asking.retries or stopping
            if verdict.kind == "refused" or (verdict.kind == "nonsense" and final and not stopping):
                return self._settle(call, method, left, verdict, outcome)
            if final or verdict.wait > MOST_WAIT:
                what = f"{NAMES[method.service]} did not answer in {tries + 1} tries ({verdict.why})"
                outcome.stop = HearsightError(what, where=address(method.service), hint=KEPT)
                return outcome
            self._stopping.wait(max(verdict.wait, self.asking.backoff * 2**tries * random.uniform(0.75, 1.25)))
            tries += 1

    def _once(self, call: Call, method: Method, left: dict[str, Any], outcome: Outcome) -> Verdict:
        """One request: what is answered goes from ``left`` to ``outcome``; why the rest is not is returned."""
        self._count({REQUESTS: 1})
        try:
            answers = method.answers(call(list(left.values())), len(left))
        except Exception as error:
            return judge(method.service, error)
        if answers is None:
            return Verdict("nonsense", "an answer of another form than the documented one")
        for (key, item), said in zip(list(left.items()), answers, strict=True):
            if said.get("error", {}).get("code") in TRANSIENT:
                continue
            if "error" not in said:
                self._count(method.units(item))
            outcome.pairs.append((key, said))
            del left[key]
        return Verdict("again", "an error that may pass for some of the pictures")

    def _settle(self, call: Call, method: Method, left: dict[str, Any], verdict: Verdict, outcome: Outcome) -> Outcome:
        """A whole request was refused: find out whose fault that was, one item a request."""
        if len(left) == 1:
            pairs = outcome.pairs if verdict.kind == "refused" else outcome.nonsense
            pairs.append((next(iter(left)), refused(INVALID_ARGUMENT, verdict.why)))
            return outcome
        for one in left.items():
            if outcome.stop is not None:
                break
            single = self._post(call, method, [one])
            outcome.pairs += single.pairs
            outcome.nonsense += single.nonsense
            outcome.stop = single.stop
        return outcome

    def _count(self, counts: dict[str, int]) -> None:
        if self.usage is not None:
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
    batch: list[tuple[str, Any]] = []
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
