"""Requests to a model server: concurrent, with retries and a budget; answers are yielded as they arrive and stored unchanged.

The library ``openai`` makes a request again after 408, 409, 429, 5xx and lost connections, with Retry-After. When no further
request can succeed (no server, no right, the budget is spent), none is started, answers in flight are yielded, and the error is
raised, so that nothing paid for is lost. An answer without the form of its prompt is asked for once more, then the item has none;
:data:`MOST_UNUSABLE` such items in a row end the run, since the model is at fault, and are not stored.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from components.core.errors import HearsightError
from components.execution.shared_stop import SharedStop
from components.execution.usage import REQUESTS, Usage, total_usage
from components.model_server.prompts import Form, Prompt, load_prompt, read_form
from components.model_server.settings import ServerParams, server_params

INSTALL = "pip install --editable '.[llm]'"
KEY = "MODEL_SERVER_KEY"
"""Environment variable of the server's key."""
SENT, ANSWERED = "server_tokens_sent", "server_tokens_answered"
MOST_UNUSABLE = 5
"""Items in a row without a usable answer after which the run ends."""
LISTING = 10.0
"""Seconds that a server may take to list its models."""
TRIES = 2
"""How often an answer of the right form is asked for."""


class ModelServerError(HearsightError):
    """The server cannot answer any request, so that others need not be tried."""


class Question(NamedTuple):
    """What is asked about one item."""

    fields: dict[str, str]
    """The prompt's fields."""
    image: bytes = b""
    """JPEG; empty for a question about a text."""


class ServerAnswers:
    """Annotator of one prompt: :class:`Question` → the server's answer unchanged, with model, prompt and price; or ``error``.

    Args:
        model: its name on the server.
        folder: scratch of one run, which its processes share, for counts, budget and a common stop.
    """

    name = "server.answers"
    version = 1
    codec = "json"

    def __init__(self, params: ServerParams, prompt: Prompt, model: str, folder: Path | None = None) -> None:
        self.model = f"{prompt.name}-v{prompt.version}-{prompt.digest[:16]}-{model}"
        self.params, self.prompt, self.served = params, prompt, model
        self.usage = Usage(folder) if folder is not None else None
        self.folder, self.stop = folder, SharedStop(folder) if folder is not None else None
        self._spent = 0.0
        self._structured = True  # until the server says that it cannot
        self._client: Any = None

    def is_lasting(self, answer: dict[str, Any]) -> bool:
        """Return whether an answer is kept for good; what has none is asked again in the next run."""
        return "error" not in answer

    def compute(self, payload: Question) -> dict[str, Any]:
        """Return the answer to one question; raises as :meth:`ask_many`."""
        return dict(self.ask_many([("", payload)]))[""]

    def ask_many(self, payloads: Iterable[tuple[str, Question]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (key, answer) for each (key, question), in any order.

        Raises:
            HearsightError: the library is not installed, the server does not answer or refuses every request, or the budget is
                spent.
        """
        try:
            with self.stop.requesting() if self.stop else nullcontext():
                yield from self._ask(iter(payloads))
        except HearsightError as error:
            if self.stop:
                self.stop.stop(error)
                self.stop.wait(self.params.timeout)
            raise

    def _ask(self, payloads: Iterator[tuple[str, Question]]) -> Iterator[tuple[str, dict[str, Any]]]:
        tasks: dict[Future[dict[str, Any]], str] = {}
        stop: HearsightError | None = None
        unusable = list[tuple[str, dict[str, Any]]]()
        with ThreadPoolExecutor(self.params.at_once) as pool:
            while True:
                while stop is None and len(tasks) < self.params.at_once and (item := next(payloads, None)) is not None:
                    try:
                        self._client = self._client or self._open()
                        self._require_budget(len(tasks))
                    except HearsightError as error:
                        stop = error
                    else:
                        tasks[pool.submit(self._answer, item[1])] = item[0]
                if not tasks:
                    break
                for task in wait(tasks, return_when=FIRST_COMPLETED).done:
                    key = tasks.pop(task)
                    try:
                        answer = task.result()
                    except HearsightError as error:
                        stop = stop or error
                        continue
                    unusable.append((key, answer))
                    if "error" not in answer:
                        yield from unusable
                        unusable.clear()
                    elif len(unusable) >= MOST_UNUSABLE and stop is None:
                        hint = "name another model, or change the prompt: its answers do not have the form that is asked for"
                        stop = self._error(f"gives no usable answers ({answer['error']})", hint)
                stop = stop or (self.stop.stop_reason() if self.stop else None)
        if len(unusable) < MOST_UNUSABLE:
            yield from unusable
        if stop is not None:
            raise stop

    def _answer(self, question: Question) -> dict[str, Any]:
        """Return the answer to one question, or why it has none."""
        import openai  # here, and below: an optional extra

        why, tries = "", 0
        while tries < TRIES:
            tries += 1
            try:
                reply = self._client.chat.completions.create(
                    model=self.served,
                    messages=self._messages(question),
                    temperature=0,
                    max_tokens=self.params.most_tokens,
                    **self._form() if self._structured else {},
                )
                choice, used = reply.choices[0], reply.usage
                content = choice.message.content or ""
            except openai.APIStatusError as error:
                if self._structured and error.status_code in (400, 422) and "response_format" in str(error.message):
                    # An older server: the prompt asks for JSON all the same.
                    self._structured, tries = False, 0
                    continue
                return {"error": self._refusal(error)}
            except openai.APIConnectionError as error:
                reason = "it answers too slowly" if isinstance(error, openai.APITimeoutError) else str(error.__cause__ or error)
                hint = "start it, or correct server.address; stored answers are kept"
                raise self._error(f"does not answer after {self.params.retries + 1} tries ({reason[:160]})", hint) from error
            except (openai.OpenAIError, ValueError, LookupError, AttributeError, TypeError) as error:
                why = f"not an answer of this interface: {' '.join(str(error).split())[:120]}"
                continue
            sent, answered = getattr(used, "prompt_tokens", 0) or 0, getattr(used, "completion_tokens", 0) or 0
            self._count(sent, answered)
            try:
                if choice.finish_reason == "length":
                    raise ValueError(f"cut off after {answered} tokens")
                read_form(content, self.prompt.form)
            except ValueError as error:
                why = str(error)
                continue
            about = {"model": str(reply.model), "prompt": self.prompt.digest, "sent": sent, "answered": answered}
            return about | {"content": content, "usd": self.params.price(sent, answered)}
        return {"error": why}

    def _form(self) -> dict[str, Any]:
        schema = {"name": self.prompt.name, "schema": self.prompt.schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def _messages(self, question: Question) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = [{"type": "text", "text": self.prompt.ask(question.fields)}]
        if question.image:
            data = f"data:image/jpeg;base64,{base64.b64encode(question.image).decode()}"
            asked.insert(0, {"type": "image_url", "image_url": {"url": data}})
        return [
            {"role": "system", "content": self.prompt.instructions},
            {"role": "user", "content": asked if question.image else asked[0]["text"]},
        ]

    def _refusal(self, error: Any) -> str:
        """Return why the server refuses this item; raise HearsightError if it would refuse every other one, too."""
        body = error.body if isinstance(error.body, dict) else {}
        message = body.get("message") or body.get("detail") or error.response.text
        reason = f"{error.status_code}: {' '.join(str(message).split())[:160]}".rstrip(": ")
        if error.status_code in (400, 413, 422):
            return reason
        hints = {401: f"set {KEY} to a key of the server", 403: f"set {KEY} to a key that may use this model"}
        hints |= {404: "name a model that the server has, and an address that ends in /v1", 429: "wait, or lower server.at_once"}
        raise self._error(f"refuses requests ({reason})", hints.get(error.status_code, "look at the server's log")) from error

    def _open(self) -> Any:
        if find_spec("openai") is None:
            raise self._error("needs a package that is not installed", f"run `{INSTALL}`")
        if not self.served:
            raise HearsightError("names no model", where="server.vision", hint="write the name of one that the server has")
        self.params.check("params.yaml: server")
        import openai  # here: an optional extra

        key = os.environ.get(KEY, "")
        if key and not self.params.is_local and not self.params.address.startswith("https:"):
            raise self._error("would get the key unencrypted", "use an https address")
        # No redirects, which would send images to another address; no proxy on the way to this machine.
        http = openai.DefaultHttpxClient(follow_redirects=False, trust_env=not self.params.is_local)
        client = openai.OpenAI(
            base_url=self.params.address,
            api_key=key or "none",
            timeout=self.params.timeout,
            max_retries=self.params.retries,
            http_client=http,
        )
        try:
            names = [str(model.id) for model in client.with_options(max_retries=0, timeout=LISTING).models.list()]
        except (openai.OpenAIError, ValueError, TypeError, AttributeError):
            return client  # not every server lists its models; the first question shows what is wrong
        # Ollama lists `name:tag` and also answers to the name of its latest one.
        if names and self.served not in names and f"{self.served}:latest" not in names:
            raise self._error(f"has no model '{self.served}'", f"write one of its names: {', '.join(names)[:160]}")
        return client

    def _require_budget(self, in_flight: int) -> None:
        """Raise HearsightError if what was spent, and what is in flight, leaves no room for one more answer."""
        if not self.params.budget:
            return
        spent = self._spent
        if self.folder is not None:
            counts = total_usage(self.folder)
            spent = self.params.price(counts[SENT], counts[ANSWERED])
        if spent + (in_flight + 1) * self.params.price(0, self.params.most_tokens) > self.params.budget:
            hint = "raise server.budget; answers are stored, and the next run asks for the rest alone"
            raise self._error(f"would cost more than the budget of ${self.params.budget:g}: ${spent:.4f} are spent", hint)

    def _count(self, sent: int, answered: int) -> None:
        self._spent += self.params.price(sent, answered)
        if self.usage is not None:
            self.usage.add({REQUESTS: 1, SENT: sent, ANSWERED: answered})

    def _error(self, what: str, hint: str) -> ModelServerError:
        return ModelServerError(f"the model server {what}", where=self.params.address, hint=hint)


def open_answers(root: Path, prompt: str, model: str = "", folder: Path | None = None) -> ServerAnswers:
    """Return the annotator of a prompt by the settings of the project, with its own prompts; nothing is sent yet.

    Args:
        prompt: its name.
        model: its name on the server; empty for ``server.vision``.
        folder: as of :class:`ServerAnswers`.

    Raises:
        HearsightError: the settings or the prompt are invalid, or name another machine without ``allow_remote``.
    """
    params = server_params(root)
    own = root / params.prompts if params.prompts else None
    return ServerAnswers(params, load_prompt(prompt, own), model or params.vision, folder)


class StoredAnswers(NamedTuple):
    """The stored answers of one :attr:`ServerAnswers.model`, for those who only read them."""

    model: str
    name: str = ServerAnswers.name
    version: int = ServerAnswers.version
    codec: str = ServerAnswers.codec


def read_answer(stored: Any, form: type[Form]) -> Form | str:
    """Return a stored answer's form, or why there is none."""
    if not isinstance(stored, dict) or "content" not in stored:
        return str(stored.get("error", "no answer")) if isinstance(stored, dict) else "no answer"
    try:
        return read_form(str(stored["content"]), form)
    except ValueError as error:
        return str(error)
