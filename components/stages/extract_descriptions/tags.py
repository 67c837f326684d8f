"""Hashtags that introduce a description: whole words only, introducing tags before those merely mentioned."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from components.core.hashtags import SPACED_HASHTAG, fold
from components.stages.extract_descriptions.marks import link_spans
from components.stages.extract_descriptions.rules import Rules
from components.stages.extract_descriptions.words import Word, words_of

_LOOK_BACK = 200
_JOINED = re.compile(r"[\s:：;,.\-–—|/+&*_>→»•·~=!]*+")
_INTRODUCES = re.compile(r"[ \t]*+(?:[:：\-–—|>→»\[({=]|\r?\n)")
_QUOTES = "\"'“”‘’«»"
_OPENERS = {"(": ")", "[": "]", "{": "}"}


class Tag(NamedTuple):
    """A tag in a caption: from its "#" to the end of its header, and a rank for how likely a description follows."""

    start: int
    end: int
    rank: int
    closer: str
    """The bracket that ends the description if one opens before the tag; otherwise empty."""


def find_tags(caption: str, rules: Rules) -> tuple[list[Tag], str]:
    """Return the introducing tags in order; without any, the reason (``no_tag`` ...)."""
    words = words_of(caption)
    links = link_spans(caption)
    tags: list[Tag] = []
    mentioned = inside = False
    position = 0
    starts = [word.start for word in words]
    for match in SPACED_HASHTAG.finditer(caption):
        if match.start() < position:
            continue
        tag = _tag_at(caption, words, starts, match, rules)
        if tag is None:
            continue
        if _inside(caption, match.start(), tag[1], links):
            inside = True
        elif _is_mentioned(caption, words, match.start(), *tag, rules):
            mentioned = True
        else:
            end = position = _header(caption, words, starts, tag[1], rules)
            rank = _rank(caption, match.start(), tag[1], end)
            tags.append(Tag(match.start(), end, rank, _closer(caption, match.start(), rules)))
    if tags:
        return tags, ""
    if mentioned:
        return [], "tag_in_sentence"
    folded = fold(caption)
    inside = inside or any(f"#{tag}" in folded for tag in rules.tag.wholes)
    return [], "tag_in_word" if inside else "no_tag"


def _tag_at(
    caption: str, words: Sequence[Word], starts: Sequence[int], match: re.Match[str], rules: Rules
) -> tuple[int, int] | None:
    """Return the index of the word after a tag and the tag's end, or None if the hashtag is no tag."""
    index = bisect_right(starts, match.start())
    found = rules.tag.at(caption, words, index) if index < len(words) and words[index].start < match.end() else None
    if found is None:
        return None
    end = found.end
    while end < len(caption) and caption[end] == "_":
        end += 1
    return found.after, end


def _inside(caption: str, start: int, end: int, links: Sequence[tuple[int, int]]) -> bool:
    """Return whether the tag is part of a word, of a longer hashtag or of a link."""
    if (start and (caption[start - 1].isalnum() or caption[start - 1] in "_/&")) or caption[end : end + 1].isalnum():
        return True
    nearest = bisect_right(links, (start, len(caption))) - 1
    return nearest >= 0 and links[nearest][0] <= start < links[nearest][1]


def _is_mentioned(caption: str, words: Sequence[Word], start: int, after: int, end: int, rules: Rules) -> bool:
    """Return whether the tag is a word of its sentence ("a campanha #PraCegoVer nasceu") or of an end mark."""
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
    """Return whether the words before a tag make it an end mark."""
    last, earlier = before[-1].folded, before[-2].folded if len(before) > 1 else ""
    return last in rules.end_opening or (last in rules.end_linking and earlier in rules.end_opening)


def _header(caption: str, words: Sequence[Word], starts: Sequence[int], end: int, rules: Rules) -> int:
    """Return the position where the text begins after a tag and adjacent tags ("#PraCegoVer e #PraTodosVerem:")."""
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
        tag = _tag_at(caption, words, starts, match, rules)
        if tag is not None:
            end = tag[1]
        elif joined and _INTRODUCES.match(caption, match.end()):
            end = match.end()
        else:
            return end


def _rank(caption: str, start: int, own_end: int, end: int) -> int:
    """Return 2 for a tag that begins a line or sentence and introduces, 1 for one of both, 0 for neither."""
    before = caption[max(0, start - _LOOK_BACK) : start].rstrip(" \t([{*_-–—>|•·➡→")
    begins = not before or before[-1] in '\n\r.!?…:;)]}"”»' or not (before[-1].isalnum() or before[-1] in ",")
    behind = caption[end : end + 3].lstrip()
    introduces = bool(_INTRODUCES.match(caption, own_end) or _INTRODUCES.match(caption, end)) or behind[:1].isupper()
    return begins + introduces


def _closer(caption: str, start: int, rules: Rules) -> str:
    """Return the closing of a bracket before the tag: "[#PraCegoVer: ...]", "[Descrição da imagem #PraCegoVer: ...]"."""
    before = caption[max(0, start - 60) : start].rstrip(" \t*_:-–—")
    words = words_of(before)
    for index in range(max(0, len(words) - 6), len(words)):
        match = rules.lead_in.at(before, words, index)
        if match is not None and match.end == len(before):
            before = before[: match.start].rstrip(" \t*_#＃")
            break
    return _OPENERS.get(before[-1:], "")
