"""Which hashtag a description follows: whole words only, the one that introduces something before those that are talked of."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from components.stages.extract_descriptions.marks import SPACED_HASHTAG, link_spans
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import Word, fold, words_of

_LOOK_BACK = 200
_JOINED = re.compile(r"[\s:：;,.\-–—|/+&*_>→»•·~=!]*+")
_INTRODUCES = re.compile(r"[ \t]*+(?:[:：\-–—|>→»\[({=]|\r?\n)")
_QUOTES = "\"'“”‘’«»"
_OPENERS = {"(": ")", "[": "]", "{": "}"}


class Tag(NamedTuple):
    """A tag in a caption: from its "#" to where its header ends, and how much speaks for a description behind it."""

    start: int
    end: int
    rank: int
    closer: str
    """The bracket that ends the description, where one was opened before the tag; empty for none."""


def find_tags(caption: str, rules: Rules) -> tuple[list[Tag], str]:
    """The tags that introduce something, in order; without any, the second is why (``no_tag`` ...)."""
    words = words_of(caption)
    links = link_spans(caption)
    tags: list[Tag] = []
    spoken_of = inside = False
    at = 0
    starts = [word.start for word in words]
    for match in SPACED_HASHTAG.finditer(caption):
        if match.start() < at:
            continue
        found = _tag_at(caption, words, starts, match, rules)
        if found is None:
            continue
        if _inside(caption, match.start(), found[1], links):
            inside = True
        elif _spoken_of(caption, words, match.start(), *found, rules):
            spoken_of = True
        else:
            end = at = _header(caption, words, starts, found[1], rules)
            rank = _rank(caption, match.start(), found[1], end)
            tags.append(Tag(match.start(), end, rank, _closer(caption, match.start(), rules)))
    if tags:
        return tags, ""
    if spoken_of:
        return [], "tag_in_sentence"
    return [], "tag_in_word" if inside or _anywhere(caption, rules) else "no_tag"


def _tag_at(
    caption: str, words: Sequence[Word], starts: Sequence[int], match: re.Match[str], rules: Rules
) -> tuple[int, int] | None:
    """The index of the word behind a tag and where the tag ends, if this hashtag is one."""
    index = bisect_right(starts, match.start())
    found = rules.tag.at(caption, words, index) if index < len(words) and words[index].start < match.end() else None
    if found is None:
        return None
    end = found.end
    while end < len(caption) and caption[end] == "_":
        end += 1
    return found.after, end


def _inside(caption: str, start: int, end: int, links: Sequence[tuple[int, int]]) -> bool:
    """Whether the tag is part of a word, of a longer hashtag or of a link."""
    if (start and (caption[start - 1].isalnum() or caption[start - 1] in "_/&")) or caption[end : end + 1].isalnum():
        return True
    nearest = bisect_right(links, (start, len(caption))) - 1
    return nearest >= 0 and links[nearest][0] <= start < links[nearest][1]


def _spoken_of(caption: str, words: Sequence[Word], start: int, after: int, end: int, rules: Rules) -> bool:
    """Whether the tag is a word of its sentence ("a campanha #PraCegoVer nasceu") or of an end mark ("fim do #PraCegoVer")."""
    line = caption[max(caption.rfind("\n", max(0, start - _LOOK_BACK), start) + 1, start - _LOOK_BACK, 0) : start].rstrip(" \t")
    if line and line[-1] in _QUOTES and caption[end : end + 1] in tuple(_QUOTES):
        return True
    before = words_of(line[-60:])
    if before and _ending(before, rules):
        return True
    if not line or not line[-1].isalnum() or _INTRODUCES.match(caption, end) or not caption[end:].strip():
        return False
    if after < len(words) and words[after].folded in rules.image_label and caption[words[after].start].isupper():
        return False
    if before and before[-1].folded in rules.naming:
        return True
    return after < len(words) and words[after].folded in rules.continuing and caption[words[after].start].islower()


def _ending(before: Sequence[Word], rules: Rules) -> bool:
    """Whether the words before a tag make an end mark of it."""
    last, earlier = before[-1].folded, before[-2].folded if len(before) > 1 else ""
    return last in rules.end_opening or (last in rules.end_linking and earlier in rules.end_opening)


def _header(caption: str, words: Sequence[Word], starts: Sequence[int], end: int, rules: Rules) -> int:
    """Where the text begins behind a tag and the tags that stand with it ("#PraCegoVer e #PraTodosVerem:")."""
    while True:
        after = _JOINED.match(caption, end).end()  # type: ignore[union-attr]
        index = bisect_right(starts, after - 1)
        if index < len(words) and words[index].start == after and words[index].folded in rules.between:
            after = _JOINED.match(caption, words[index].end).end()  # type: ignore[union-attr]
            joined = True
        else:
            joined = False
        match = SPACED_HASHTAG.match(caption, after)
        if match is None:
            return end
        found = _tag_at(caption, words, starts, match, rules)
        if found is not None:
            end = found[1]
        elif joined and _INTRODUCES.match(caption, match.end()):
            end = match.end()
        else:
            return end


def _rank(caption: str, start: int, own_end: int, end: int) -> int:
    """2 for a tag that begins a line or sentence and introduces, 1 for one of both, 0 for neither."""
    before = caption[max(0, start - _LOOK_BACK) : start].rstrip(" \t([{*_-–—>|•·➡→")
    begins = not before or before[-1] in '\n\r.!?…:;)]}"”»' or not (before[-1].isalnum() or before[-1] in ",")
    behind = caption[end : end + 3].lstrip()
    introduces = bool(_INTRODUCES.match(caption, own_end) or _INTRODUCES.match(caption, end)) or behind[:1].isupper()
    return begins + introduces


def _closer(caption: str, start: int, rules: Rules) -> str:
    """The closing of a bracket before the tag, also with a lead-in between: "[Descrição da imagem #PraCegoVer: ...]"."""
    before = caption[max(0, start - 60) : start].rstrip(" \t*_:-–—")
    words = words_of(before)
    for index in range(max(0, len(words) - 6), len(words)):
        found = rules.lead_in.at(before, words, index)
        if found is not None and found.end == len(before):
            before = before[: found.start].rstrip(" \t*_#＃")
            break
    return _OPENERS.get(before[-1:], "")


def _anywhere(caption: str, rules: Rules) -> bool:
    folded = fold(caption).replace("＃", "#")
    return any(f"#{tag}" in folded for tag in rules.tag.wholes)
