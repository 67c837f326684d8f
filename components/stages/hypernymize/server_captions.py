"""Captions that a text model on a server proposes (``rewriter``), and the checks that each passes before it is kept.

A proposal may use the words of its text, function words, and for each name one noun that can be a hypernym of such a name (of a
person: a kind of person). Then the rules read it like any text: where they still find a name or a date, it is dropped.
Not measured: whether the hypernym is true.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from components.core.digests import digest_value, sha256_bytes
from components.core.stage_output import ShardRef
from components.execution.stage import Stage, Task
from components.execution.usage import REQUESTS, total_usage
from components.knowledge.cascade import Knowledge
from components.knowledge.kinds import Gate
from components.language.named_entities import KINDS as RECOGNISED
from components.language.parser import EnglishParser, Parse
from components.language.words import stem, words_of, zipf
from components.model_server.client import ANSWERED, SENT, Question, StoredAnswers, open_answers, read_answer
from components.model_server.prompts import Rewriting
from components.model_server.settings import USAGE
from components.stages.hypernymize.corrections import correct_parse
from components.stages.hypernymize.first_word import NAMES
from components.stages.hypernymize.leftovers import FUNCTIONS
from components.stages.hypernymize.rewrite import Rewritten, Step, rewrite
from components.stages.hypernymize.sentence import Sentence

NAMING = frozenset({"dates", "locations", "whereabouts", "hypernyms", "leftovers", "unknown"})
"""Steps of the rules that find a name or a date."""
USUAL = 5.0
"""Frequency (Zipf) from which a word with the tag of one is a function word."""
COMPOUNDS = frozenset({"compound", "nmod"})
_RUNS = re.compile(r"[^\W_]+")
_ADDRESS = re.compile(r"[@#_]|//|\w\.[^\W\d]")


def ask_server(stage: Stage, shards: Sequence[ShardRef]) -> dict[str, Any]:
    """Request the missing answers about all texts; return what workers need to read them, and a digest of the answers.

    Raises:
        HearsightError: as :meth:`ServerAnswers.ask_many`.
    """
    folder = stage.work / USAGE
    annotator = open_answers(stage.project, "rewrite", stage.params.rewriter, folder)
    params, prompt = annotator.params, annotator.prompt
    shutil.rmtree(folder, ignore_errors=True)  # counts of an earlier run
    digests = []
    for shard in stage.progress(shards, total=len(shards), desc=f"{stage.name} {annotator.served}"):
        texts = shard.read(["text"])["text"].to_pylist()
        answers = stage.annotations.annotate(annotator, {sha256_bytes(text.encode()): Question({"text": text}) for text in texts})
        digests.append(digest_value(answers))
    state = digest_value(digests)
    stage.note_parent(f"rewriter {annotator.served}", state)
    stage.note_parent(f"prompt rewrite v{prompt.version}", prompt.digest)
    counts = total_usage(folder)
    stage.metric("server_requests", counts[REQUESTS])
    stage.metric("server_tokens", counts[SENT] + counts[ANSWERED])
    stage.metric("server_usd", params.price(counts[SENT], counts[ANSWERED]))
    return {"model": annotator.model, "served": annotator.served, "answers": state}


def find_fault(text: Sentence, proposal: Parse, result: Rewritten, knowledge: Knowledge) -> tuple[str, str] | None:
    """Return why a proposal is dropped (value, threshold), or None.

    Args:
        text: as it was parsed; its parse is corrected.
        proposal: parse of the proposed caption.
        result: what the rules make of the proposal.
    """
    if result.shortcoming is not None:
        rule, value, threshold = result.shortcoming
        return f"{rule}: {value}", threshold
    for step in result.steps:
        if step.step in NAMING or step.reason.startswith("name before a noun"):
            return f"a name or date is left: {step.reason}", "no names"
    if addresses := [word for word in proposal["text"] if _ADDRESS.search(word)]:
        return f"an address is left: {' '.join(addresses)}", "no addresses"
    correct_parse(text, knowledge)
    said, gate = Names(text, knowledge), Gate(knowledge.wordnet)
    kept, added = set(_RUNS.findall(result.caption.lower())), 0
    for position, word in enumerate(proposal["text"]):
        plain, head = word.lower(), position
        function = proposal["pos"][position] in FUNCTIONS and zipf(plain) >= USUAL
        struck = kept.isdisjoint(_RUNS.findall(plain))  # by the rules, or a mark
        if struck or plain in said.other or stem(plain) in said.other or (function and plain not in said.words):
            continue
        while proposal["dep"][head] in COMPOUNDS and head < proposal["head"][head]:
            head = proposal["head"][head]  # "football player"
        noun = "person" if proposal["lemma"][head].lower() == "people" else proposal["lemma"][head].lower()
        kind_of_name = proposal["pos"][head] in ("NOUN", "PROPN") and any(gate.suits(noun, kind) for kind in said.kinds)
        if plain in said.words:
            if plain not in said.last and not (kind_of_name and head == position):
                return f"a name is left: {plain}", "no names"
        elif not kind_of_name:
            return f"adds: {plain}", "words of the text, and kinds of its names"
        else:
            added += head == position
    if added > said.count:
        return f"adds {added} nouns", f"<= {said.count} names"
    words, most = len(words_of(result.caption)), len(words_of(" ".join(word.text for word in text.words))) + said.count
    return (f"{words} words", f"<= {most} words") if words > most else None


class Names:
    """The names of a text, and its other words."""

    def __init__(self, text: Sentence, knowledge: Knowledge) -> None:
        entities = [entity for entity in [*text.entities, *text.names] if entity.kind in {*NAMES, *RECOGNISED, "DATE"}]
        named = {position for entity in entities for position in range(entity.start, entity.end)}
        named |= {position for position, word in enumerate(text.words) if word.pos == "PROPN"}
        plain = [word.text.lower() for word in text.words]
        other = {word for position, word in enumerate(plain) if position not in named}
        self.other = other | set(map(stem, other))
        """Words outside names, and their stems."""
        self.words = {plain[position] for position in named if text.words[position].pos not in FUNCTIONS} - other
        """Words of names and dates."""
        ends = [entity.end - 1 for entity in entities if entity.kind != "PERSON" and entity.end - entity.start > 1]
        self.last = {plain[end] for end in ends if knowledge.is_common_noun(plain[end])}
        """What names of several words say of their kind: "Wembley Stadium"."""
        kinds = {entity.kind for entity in text.entities}.union(*(RECOGNISED[name.kind] for name in text.names))
        self.kinds = kinds | ({"PRODUCT"} if "ORG" in kinds else set())  # "a Ferrari"
        self.count = len({entity.start for entity in entities})


def read_proposals(
    read: Mapping[str, Sentence], texts: Mapping[str, str], task: Task, knowledge: Knowledge, limits: Mapping[str, Any]
) -> dict[str, Rewritten]:
    """Return the checked caption of each text, by digest of the text.

    Args:
        read: the texts, as they were parsed.
        limits: keyword arguments of :func:`rewrite`.
    """
    rewriter, results = task.shared["rewriter"], {}
    stored = task.annotations.read(StoredAnswers(rewriter["model"]), list(texts))
    answers = {digest: read_answer(stored.get(digest), Rewriting) for digest in texts}
    captions = {digest: answer.caption for digest, answer in answers.items() if isinstance(answer, Rewriting)}
    keys = {digest: sha256_bytes(caption.encode()) for digest, caption in captions.items()}
    proposals = task.annotations.annotate(EnglishParser(), {keys[digest]: caption for digest, caption in captions.items()})
    for digest, text in texts.items():
        if digest not in captions:
            results[digest] = Rewritten("", [], [], ("unanswered", str(answers[digest]), "an answer"))
            continue
        if not captions[digest].strip():
            results[digest] = Rewritten("", [], [], ("server_caption", "is empty", "a caption"))
            continue
        proposal = proposals[keys[digest]]
        result = rewrite(proposal, knowledge, removed=True, **limits)
        fault = find_fault(read[digest], proposal, result, knowledge)
        steps = [Step("server", text, captions[digest], f"rewritten by {rewriter['served']}"), *result.steps]
        kept = Rewritten(result.caption, steps, result.types, None)
        results[digest] = Rewritten(captions[digest], steps, [], ("server_caption", *fault)) if fault else kept
    return results
