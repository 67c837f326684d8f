"""Extraction of the image description from a post's caption (PCV §4.3.1).

Small named rules are applied to the caption as plain text; each only removes text (at most a space or a full stop is added),
and every change is recorded as a step. The rules repeat until nothing changes, so a description after a tag is extracted
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from components.stages.extract_descriptions import Params
from components.stages.extract_descriptions.bounds import before_end_mark, find_closing, is_label, without_frame, without_lead_in
from components.stages.extract_descriptions.describing import describing
from components.stages.extract_descriptions.languages import WHOLE_SHARE, Guess, is_foreign, own_section, without_foreign_edges
from components.stages.extract_descriptions.marks import (
    without_emoticons,
    without_hashtags,
    without_links,
    without_mentions,
    without_quotes,
)
from components.stages.extract_descriptions.plain_text import (
    clean_ends,
    fix_punctuation,
    one_line,
    without_emoji,
    without_html,
    without_invisible,
    without_strays,
)
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.tags import Tag, find_tags
from components.stages.extract_descriptions.trailers import without_dangling, without_torn_words
from components.stages.extract_descriptions.words import count_words, words_of

REASONS = {
    "too_long": "the caption has more than `max_characters` characters",
    "no_tag": "no hashtag of the data file's `tag` list",
    "tag_in_word": "the tag is part of a longer word, hashtag or link only",
    "tag_in_sentence": "the tag occurs only as a word of a sentence",
    "nothing_after_tag": "nothing stands behind the tag",
    "before_tag": "no text follows the tag, but the text before it is marked as a description",
    "only_marks": "only hashtags, mentions, links, emoji or punctuation stand behind the tag",
    "too_short": "not more than `min_words` words are left",
    "no_description": "no run of segments describes an image",
    "not_portuguese": "what stands behind the tag is in another language",
    "unsettled": "the text still changes after the last round of rules; ordinary captions settle",
}
"""All reasons of a malformed caption, with their meaning."""

ROUNDS = 8
_OPENER = {")": "(", "]": "[", "}": "{"}


class Step(NamedTuple):
    """A change of the text."""

    step: str
    before: str
    after: str
    reason: str


class Description(NamedTuple):
    """The result for a caption: the description, or None and the reason, and every step."""

    text: str | None
    reason: str | None
    steps: tuple[Step, ...]


class _Draft:
    def __init__(self, text: str, steps: list[Step]) -> None:
        self.text = text
        self.steps = list(steps)

    def update(self, step: str, after: str, reason: str) -> None:
        if after != self.text:
            self.steps.append(Step(step, self.text, after, reason))
            self.text = after


def extract(caption: str, rules: Rules, guess: Guess, params: Params) -> Description:
    """Extract the description from one caption.

    Args:
        guess: returns the probability of a language for a text.
    """
    if len(caption) > params.max_characters:
        return Description(None, "too_long", ())
    draft = _Draft(caption, [])
    draft.update("html", without_html(caption), "entities and tags of HTML")
    draft.update("invisible", without_invisible(draft.text), "characters that show nothing; letters composed")
    draft.update("quote", without_quotes(draft.text), "the link of a quoted post")
    plain = draft.text
    tags, reason = find_tags(plain, rules)
    if not tags:
        return Description(None, reason, tuple(draft.steps))
    failure: Description | None = None
    used: set[int] = set()
    for at in sorted(range(len(tags)), key=lambda index: (-tags[index].rank, index)):
        if at in used:
            continue
        body, next_tag = _body(plain, tags, at, rules)
        used.update(range(at, next_tag))
        description = _apply_rules(plain, body, draft.steps, rules, guess, params)
        if description.text is not None:
            return description
        if failure is None or (failure.reason in _EMPTY and description.reason not in _EMPTY):
            failure = description
    assert failure is not None
    if failure.reason in _EMPTY and _marked_before(plain[: tags[0].start], rules):
        failure = failure._replace(reason="before_tag")
    return failure


_EMPTY = ("nothing_after_tag", "only_marks")


def text_to_cut(caption: str, rules: Rules, guess: Guess) -> str:
    """Return what the author's marks say is the description, before segments are judged; empty without a tag."""
    plain = without_quotes(without_invisible(without_html(caption)))
    tags, _ = find_tags(plain, rules)
    if not tags:
        return ""
    best = max(range(len(tags)), key=lambda index: (tags[index].rank, -index))
    draft = _Draft(_body(plain, tags, best, rules)[0], [])
    _bound(draft, rules, guess, Params())
    return draft.text


def _body(caption: str, tags: list[Tag], at: int, rules: Rules) -> tuple[str, int]:
    """Return the text after a tag and the index of the next tag outside it."""
    tag = tags[at]
    end = tags[at + 1].start if at + 1 < len(tags) else len(caption)
    if tag.closer:
        close = find_closing(caption[: end + 1], _OPENER[tag.closer], tag.end)
        if close >= 0 and count_words(caption[tag.end : close]):  # "(#PraTodosVerem) Foto ...": the bracket holds only the tag
            return caption[tag.end : close], at + 1
    pieces, at = [caption[tag.end : end]], at + 1
    while at < len(tags) and is_label(caption[tags[at].end : tags[at].end + 80], rules):
        end = tags[at + 1].start if at + 1 < len(tags) else len(caption)
        pieces.append(caption[tags[at].end : end])
        at += 1
    *earlier, last = pieces
    return "\n".join([*(piece.rstrip(" \t([{") for piece in earlier), last]), at


def _apply_rules(caption: str, body: str, steps: list[Step], rules: Rules, guess: Guess, params: Params) -> Description:
    """Apply the rules until nothing changes, then test the result against the requirements of a description."""
    draft = _Draft(caption, steps)
    draft.update("tag", body, "what stands behind the tag")
    described = 1.0
    for _ in range(ROUNDS):
        before = draft.text
        described = min(described, _apply_once(draft, rules, guess, params))
        if draft.text == before:
            break
    else:
        return Description(None, "unsettled", tuple(draft.steps))
    count = count_words(draft.text)
    reason = None
    if count == 0:
        reason = "only_marks" if body.strip() else "nothing_after_tag"
    elif is_foreign(draft.text, rules, params.min_language, guess, WHOLE_SHARE):
        reason = "not_portuguese"
    elif count <= params.min_words:
        reason = "too_short"
    elif described < params.min_describing:
        reason = "no_description"
    return Description(draft.text if reason is None else None, reason, tuple(draft.steps))


def _bound(draft: _Draft, rules: Rules, guess: Guess, params: Params) -> None:
    """Keep what the author's own marks say is the description."""
    draft.update("lead-in", without_lead_in(draft.text, rules), "words that announce a description")
    draft.update("end mark", before_end_mark(draft.text, rules)[0], "a mark says that the description ends")
    draft.update("section", own_section(draft.text, rules, params.min_language, guess), "marked as another language")
    draft.update("lead-in", without_lead_in(draft.text, rules), "marks that a description follows")
    draft.update("frame", without_frame(draft.text, rules, params.min_words)[0], "brackets or quotes hold the description")
    draft.update(
        "language", without_foreign_edges(draft.text, rules, params.min_language, guess), "another language at the edges"
    )


def _apply_once(draft: _Draft, rules: Rules, guess: Guess, params: Params) -> float:
    """Apply each rule once, and return the probability that a run of segments describes an image."""
    _bound(draft, rules, guess, params)
    text, described = describing(draft.text, rules)
    draft.update("describing", text, "other segments address, sell, cite or sign")
    removals: tuple[tuple[str, Callable[[str, Rules], str]], ...] = (
        ("link", without_links),
        ("mention", without_mentions),
        ("hashtag", without_hashtags),
    )
    draft.update("emoji", without_emoji(draft.text), "emoji")
    draft.update("invisible", without_strays(draft.text), "what emoji left; letters composed")
    draft.update("torn word", without_torn_words(draft.text), "words that begin with a combining mark")
    draft.update("emoticon", without_emoticons(draft.text, rules), "emoticons")
    for name, remove in removals:
        draft.update(name, remove(draft.text, rules), f"{name}s")
    draft.update("dangling", without_dangling(draft.text, rules), "last words that cannot end a sentence")
    draft.update("spacing", one_line(draft.text), "one line")
    draft.update("punctuation", clean_ends(fix_punctuation(draft.text)), "remains of removals; final full stop")
    return described


def _marked_before(text: str, rules: Rules) -> bool:
    """Return whether the text before the tag announces a description: "Descrição da imagem:", "Audiodescrição:"."""
    words = words_of(text)
    for index in range(len(words)):
        match = rules.lead_in.at(text, words, index)
        if match is not None and text[match.end : match.end + 2].lstrip().startswith(":"):
            return True
    return False
