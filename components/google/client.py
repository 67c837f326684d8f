"""A client of Google Cloud services over Google's client libraries: concurrent requests, batches, retries.

``responses.classify_failure`` decides what a failure means. When no further request can succeed (quota used up, service
down), the client starts no request, waits for those in flight, yields their answers, and then raises the error, so that
no paid answer is lost.
An unusable answer (truncated JSON, another form) is requested again; an item without a usable answer is refused. Several
such requests in a row are an error of the connection, not of the items.
Retries are implemented here: ``google.api_core.retry`` has no limit of attempts, ignores Retry-After and sleeps on while
the run ends.
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
from components.execution.shared_stop import SharedStop
from components.execution.usage import REQUESTS, Usage
from components.google.credentials import WHERE, find_credentials
from components.google.method import INVALID_ARGUMENT, Method, refusal_answer
from components.google.responses import RETRY_HINT, SERVICE_NAMES, TRANSIENT, Verdict, classify_failure
from components.google.settings import RequestSettings

ADDRESSES = {
    "language": ("GOOGLE_LANGUAGE_ENDPOINT", "https://language.googleapis.com"),
    "vision": ("GOOGLE_VISION_ENDPOINT", "https://vision.googleapis.com"),
    "texttospeech": ("GOOGLE_TEXTTOSPEECH_ENDPOINT", "https://texttospeech.googleapis.com"),
}
"""Service → the environment variable that overrides its address, and the default address."""
LIBRARIES = {
    "language": "google.cloud.language_v1:LanguageServiceClient",
    "vision": "google.cloud.vision_v1:ImageAnnotatorClient",
    "texttospeech": "google.cloud.texttospeech_v1:TextToSpeechClient",
}
"""Service → its client class in the extra ``google``."""


def service_address(service: str) -> str:
    """Return the address of a service.

    Raises:
        HearsightError: the environment names an address that would send the key unencrypted.
    """
    variable, default = ADDRESSES[service]
    url = (os.environ.get(variable) or default).rstrip("/")
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition(":")[0] or rest.partition("/")[0]
    if scheme != "https" and not (scheme == "http" and host in ("127.0.0.1", "localhost", "[::1]")):
        raise HearsightError(f"{variable} is '{url}'", where=WHERE, hint="use an https address, or http on loopback")
    return url


def open_library(service: str, connections: int) -> Any:
    """Return the client of a service's library, safe in threads, with the credentials of the environment.

    Raises:
        HearsightError: no credentials, the library is not installed, or as :func:`service_address`.
    """
    url = service_address(service)
    credentials = find_credentials()
    # Imported on use: takes 0.5 s, and is an optional extra.
    library = resolve_name(LIBRARIES[service])
    opened = library(credentials=credentials, transport="rest", client_options={"api_endpoint": url})
    session = opened.transport._session  # no public accessor; tests cover its effects
    session.max_redirects = 0  # a redirect would send the key to another address
    session.trust_env = url.startswith("https:")  # no proxy for loopback
    for adapter in session.adapters.values():
        adapter.init_poolmanager(1, connections)  # one connection per thread
    return opened


MAX_WAIT = 300.0
"""Seconds of Retry-After that the client waits; a longer value ends the run."""
MAX_UNUSABLE = 3
"""Requests in a row without a usable answer after which the connection is at fault."""

Pairs = list[tuple[str, dict[str, Any]]]
Batch = Sequence[tuple[str, Any]]
Call = Callable[[Sequence[Any]], dict[str, Any]]
"""Sends one request for some items; returns Google's answer in its JSON form."""


@dataclass
class Outcome:
    """The result of one batch."""

    pairs: Pairs = field(default_factory=list)
    nonsense: Pairs = field(default_factory=list)
    """Refusals of items without a usable answer."""
    stop: HearsightError | None = None


class GoogleClient:
    """The client of one process. It looks for credentials and libraries at the first :meth:`ask`.

    Args:
        asking: concurrency, timeouts and retries.
        folder: scratch folder that the workers of one run share, for usage counts and a common stop.
    """

    def __init__(self, asking: RequestSettings, folder: Path | None = None) -> None:
        self.asking = asking
        self.usage = Usage(folder) if folder is not None else None
        self.shared_stop = SharedStop(folder) if folder is not None else None
        self._libraries: dict[str, Any] = {}
        self._stopping = Event()

    def ask(self, method: Method, payloads: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (key, answer) for each (key, payload), as answers arrive.

        Raises:
            HearsightError: no credentials, no quota, no permission, or no answer after all retries.
        """
        batches = _batches(method, payloads)
        first = next(batches, None)
        if first is None:
            return
        self._stopping.clear()
        call = self._call(method)
        if self.shared_stop is None:
            yield from self._ask(method, call, first, batches)
            return
        try:
            with self.shared_stop.requesting():
                yield from self._ask(method, call, first, batches)
        except HearsightError as error:
            self.shared_stop.stop(error)
            self.shared_stop.wait(self.asking.timeout)
            raise

    def _call(self, method: Method) -> Call:
        """Return the function that sends requests of a method; it is safe in threads."""
        if method.service not in self._libraries:
            self._libraries[method.service] = open_library(method.service, self.asking.at_once)
        request = getattr(self._libraries[method.service], method.rpc)

        def call(items: Sequence[Any]) -> dict[str, Any]:
            response = request(request=method.body(items), retry=None, timeout=self.asking.timeout)
            form = {"preserving_proto_field_name": False, "use_integers_for_enums": False}
            answer: dict[str, Any] = type(response).to_dict(response, always_print_fields_with_no_presence=False, **form)
            return answer

        return call

    def _ask(self, method: Method, call: Call, first: Batch, batches: Iterator[Batch]) -> Iterator[tuple[str, dict[str, Any]]]:
        tasks: set[Future[Outcome]] = set()
        held: Pairs = []
        stop: HearsightError | None = None
        unusable = 0
        with ThreadPoolExecutor(self.asking.at_once) as pool:
            try:
                waiting: Batch | None = first
                while waiting is not None or tasks:
                    while waiting is not None and stop is None and len(tasks) < self.asking.at_once:
                        if waiting[0][1]:
                            tasks.add(pool.submit(self._post, call, method, waiting))
                        else:
                            yield waiting[0][0], refusal_answer(INVALID_ARGUMENT, "not sent: blank, empty or unreadable")
                        try:
                            waiting = next(batches, None)
                        except HearsightError as error:
                            stop = error
                    stop = stop or (self.shared_stop.stop_reason() if self.shared_stop else None)
                    if stop is not None:
                        waiting = None
                        self._stopping.set()
                        if self.shared_stop:
                            self.shared_stop.stop(stop)
                    if not tasks:
                        continue
                    done, tasks = wait(tasks, return_when=FIRST_COMPLETED)
                    for outcome in (task.result() for task in done):
                        if outcome.pairs:
                            yield from outcome.pairs
                            yield from held
                            held, unusable = [], 0
                        if outcome.nonsense:
                            held, unusable = held + outcome.nonsense, unusable + 1
                        if unusable >= MAX_UNUSABLE and stop is None:
                            what = f"{SERVICE_NAMES[method.service]} gives no usable answers ({held[-1][1]['error']['message']})"
                            hint = f"check for a proxy that alters answers, then {RETRY_HINT}"
                            stop = HearsightError(what, where=service_address(method.service), hint=hint)
                        stop = stop or outcome.stop
                if stop is not None:
                    raise stop
                yield from held
            finally:
                self._stopping.set()

    def _post(self, call: Call, method: Method, batch: Batch) -> Outcome:
        """Send one batch until it is answered, refused or given up."""
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
            if final or verdict.wait > MAX_WAIT:
                what = f"{SERVICE_NAMES[method.service]} did not answer in {tries + 1} tries ({verdict.why})"
                outcome.stop = HearsightError(what, where=service_address(method.service), hint=RETRY_HINT)
                return outcome
            self._stopping.wait(max(verdict.wait, self.asking.backoff * 2**tries * random.uniform(0.75, 1.25)))
            tries += 1

    def _once(self, call: Call, method: Method, left: dict[str, Any], outcome: Outcome) -> Verdict:
        """Send one request. Move answered items from ``left`` to ``outcome``; return why the others have no answer."""
        self._count({REQUESTS: 1})
        try:
            answers = method.answers(call(list(left.values())), len(left))
        except Exception as error:
            return classify_failure(method.service, error)
        if answers is None:
            return Verdict("nonsense", "an answer that is not of the documented form")
        for (key, item), item_answer in zip(list(left.items()), answers, strict=True):
            if item_answer.get("error", {}).get("code") in TRANSIENT:
                continue
            if "error" not in item_answer:
                self._count(method.units(item))
            outcome.pairs.append((key, item_answer))
            del left[key]
        return Verdict("again", "a transient error for some of the images")

    def _settle(self, call: Call, method: Method, left: dict[str, Any], verdict: Verdict, outcome: Outcome) -> Outcome:
        """Send the items of a refused request one by one, to find those that are refused."""
        if len(left) == 1:
            pairs = outcome.pairs if verdict.kind == "refused" else outcome.nonsense
            pairs.append((next(iter(left)), refusal_answer(INVALID_ARGUMENT, verdict.why)))
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


def _batches(method: Method, payloads: Iterable[tuple[str, Any]]) -> Iterator[Batch]:
    """Yield batches that fit one request each; an item that cannot be sent comes alone, as ""."""
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
