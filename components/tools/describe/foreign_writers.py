"""Models from elsewhere as writers of captions: a captioner of a hub, and the vision model of a model server.

What they write is checked before it is shown (``proposals``). Answers of a server are stored unchanged, like paid ones: an image
is sent once for each model and prompt.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from components.core.addresses import state_folder
from components.core.digests import digest_value, sha256_bytes
from components.core.result_cache import ResultCache
from components.execution.resources import choose_device
from components.hub.model import HubFolder
from components.model_server.client import Question, open_answers, read_answer
from components.model_server.prompts import Proposal, read_form
from components.tools.describe.models import FoundModel
from components.tools.describe.proposals import check_proposal, is_seen
from components.tools.describe.settings import SERVER, DescribeParams
from components.tools.describe.wording import limit
from components.tools.describe.writers import Evidence, Writer, Written
from components.vision.hub_captioner import HubCaptioner
from components.vision.image_files import require_image
from components.web.images.opening import make_thumbnail

PROMPT = "describe"
SIDE = 1024
"""Longer side in px of an image that is sent."""


def open_hub(found: HubFolder, params: DescribeParams, language: str, interface: str) -> Writer:
    """Return a captioner of a hub; raise HearsightError if the files are no such model."""
    captioner = HubCaptioner(found, choose_device(params.device), params.prompt)

    def write(data: bytes, where: str) -> Written:
        require_image(data, where)
        text, _, likelihood = captioner.write(data)
        with suppress(ValueError):  # of a chat model that answers as a server's does
            text = read_form(text, Proposal).description  # type: ignore[attr-defined]
        return _checked(text, data, Evidence(likelihood, None, 0), language, interface)

    limits = [limit(interface, "likelihood"), *([] if language == "en" else [limit(interface, "unchecked")])]
    return Writer(limit(interface, "hub", model=found.name), write, tuple(limits), "hub")


def open_server(root: Path, language: str, interface: str) -> tuple[FoundModel, Writer]:
    """Return the server's vision model, its version being that of the prompt, and its writer; nothing is sent yet.

    Raises:
        HearsightError: the settings are invalid, or name another machine without ``allow_remote``.
    """
    answers = open_answers(root, PROMPT)
    params, prompt = answers.params, answers.prompt
    cache = ResultCache(state_folder(root) / "annotations")

    def write(data: bytes, where: str) -> Written:
        require_image(data, where)
        key = answer_key(data, language)
        known = any(map(answers.is_lasting, cache.read(answers, [key]).values()))
        stored = cache.annotate(answers, {key: lambda: Question({"language": language}, make_thumbnail(data, SIDE))})[key]
        answer = read_answer(stored, Proposal)
        usd = 0.0 if known else float(stored.get("usd", 0.0))
        if not isinstance(answer, Proposal):
            return Written("", Evidence(None, None, 0), limit(interface, "unanswered", value=answer), usd=usd)
        return _checked(answer.description, data, Evidence(None, None, 0, answer.sure), language, interface)._replace(usd=usd)

    limits = [limit(interface, "said")]
    limits += [] if language == "en" else [limit(interface, "unchecked")]
    limits += [limit(interface, "sent", place=params.place)] if params.place else []
    about = limit(interface, "server", model=params.vision, place=params.address)
    found = FoundModel(params.vision, SERVER, root, f"prompt {prompt.version} {prompt.digest[:12]}")
    return found, Writer(about, write, tuple(limits), SERVER)


def answer_key(data: bytes, language: str) -> str:
    """Return the key of the stored answer about an image in a language."""
    return digest_value([sha256_bytes(data), language])


def _checked(text: str, data: bytes, evidence: Evidence, language: str, interface: str) -> Written:
    checked = check_proposal(text, language)
    if checked.failed:
        note = "empty" if checked.failed == "length" and not text.strip() else checked.failed
        return Written("", evidence, limit(interface, note, value=checked.value))
    if language == "en" and not is_seen(checked.nouns, data):
        return Written(checked.text, evidence, limit(interface, "disagrees"), doubted=True)
    return Written(checked.text, evidence)
