"""Write captions of posts: a lead, the tag, the description, an end mark, and tags and links, drawn by the post's key.

The description is a real text of the packages; the rest varies as in posts under #PraCegoVer (PCV §4.2, figures 2 and 3). About
one caption in eleven is malformed, as in the paper (9.6 %). The parts are stored separately, so tests know the description.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from components.core.params import read_yaml
from components.core.seeded_rng import seeded_rng
from components.sample.images import background_of
from components.sample.material import Material
from components.sample.portuguese import ARTICLE, as_sentence, lower_first, without_accents

MALFORMED = {"tag alone": 0.04, "description first": 0.034, "tag inside a word": 0.02, "emoji only": 0.016}
"""Form → its share of the posts that carry the tag."""
_PARTS = read_yaml(Path(__file__).parent / "data" / "captions.yaml")
LEADS, INTROS, ENDS, TAILS, OTHER_TEXTS = (_PARTS[name] for name in ("leads", "intros", "ends", "tails", "other_texts"))
"""Introductions, ends and tails have weights."""
CLOSED_TAILS = TAILS + _PARTS["closed_tails"]
"""Tails after an end mark, which may be prose."""


@dataclass(frozen=True)
class Caption:
    """The parts of a caption; ``text`` is the posted caption."""

    form: str
    """``described``, ``untagged``, ``empty``, or one of :data:`MALFORMED`."""
    lead: str
    intro: str
    """With ``{d}`` where the description stands."""
    description: str
    end: str
    tail: str

    @property
    def text(self) -> str:
        """The complete caption, plain text with line breaks."""
        lead = f"{self.lead}\n\n" if self.lead else ""
        return (lead + self.intro.replace("{d}", self.description) + self.end + self.tail).strip()

    @property
    def truth(self) -> str | None:
        """The description; None where the caption is malformed or lacks the tag."""
        return self.description if self.form == "described" else None


def write(material: Material, key: str, mention: str, form: str = "") -> Caption:
    """Return a caption of a material, drawn by ``key``, that may mention ``mention`` (``@name``).

    ``form``: a form of :class:`Caption`; "" draws one.
    """
    chance = seeded_rng(key, "caption")
    form = form or _form(chance)
    lead = chance.choice(LEADS) if chance.random() < 0.75 else ""
    intro, end = _pick(chance, INTROS), _pick(chance, ENDS)
    tail = _pick(chance, CLOSED_TAILS if end.strip(" #").casefold().startswith(("fim", "[fim", "(fim")) else TAILS)
    caption = Caption(form, lead, intro, describe(material, key), end, tail)
    if form != "described":
        caption = _malformed(caption, chance)
    slots = _slots(material, chance, mention)
    return replace(
        caption, lead=_filled(caption.lead, slots), tail=_filled(caption.tail, slots), intro=_filled(caption.intro, slots)
    )


def again(first: Caption, material: Material, key: str, mention: str) -> Caption:
    """Return a caption for a re-post: ``first``, nearly word for word."""
    chance = seeded_rng(key, "again")
    way = chance.random()
    if way < 0.3:
        return first
    slots = _slots(material, chance, mention)
    if way < 0.55:
        return replace(first, lead=f"Repost {mention}" + (f"\n{first.lead}" if first.lead else ""))
    if way < 0.8:
        return replace(first, lead=_filled(chance.choice(LEADS[:6]), slots), tail=_filled(_pick(chance, TAILS[:4]), slots))
    words = first.description.split(" ")
    if len(words) >= 8 and first.form == "described":  # one word of many is written otherwise
        place = chance.randrange(2, len(words) - 1)
        words[place] = without_accents(words[place])
        return replace(first, description=" ".join(words))
    return replace(first, end="" if first.form == "described" else first.end, tail=_filled(_pick(chance, TAILS[:4]), slots))


def otherwise(material: Material, key: str, mention: str) -> Caption:
    """Return another caption for a re-posted image: another real text of the material, or a generic one."""
    chance = seeded_rng(key, "otherwise")
    caption = write(material, key, mention, "described")
    text = chance.choice(material.others) if material.others else chance.choice(OTHER_TEXTS).replace("{theme}", material.theme)
    return replace(caption, description=as_sentence(text))


def describe(material: Material, key: str) -> str:
    """Return the material's text as a description of its image."""
    chance, text, colour = seeded_rng(key, "describe"), as_sentence(material.text), background_of(material)
    bare = text.rstrip(".")
    if material.kind == "stamp":
        ways = [
            text,
            text,
            f"Ilustração com fundo {colour}. {text}",
            f"{text} O fundo é {colour}.",
            f"Imagem com fundo {colour}: {text}",
        ]
        if ARTICLE.match(text):
            ways.append(f"Imagem quadrada com fundo {colour}. No centro, {lower_first(text)}")
        return chance.choice(ways)
    if material.text[:1].islower():  # a word of a first reader
        if material.kind == "photo":
            return chance.choice((f"Foto de {bare}.", f"Fotografia colorida de {bare}.", f"Foto de {bare} em primeiro plano."))
        coloured = f"Desenho colorido de {bare}, no centro de um fundo {colour}."
        return chance.choice((f"Desenho de {bare}.", f"Ilustração de {bare} em fundo {colour}.", coloured))
    if material.title == material.text:
        kind = "Fotografia" if material.kind == "photo" else "Reprodução de pintura"
        return chance.choice((f"{kind}: {text}", f"{kind} colorida. {text}", text))
    return chance.choice((text, f"Foto: {material.title}. {text}", f"Fotografia colorida. {material.title}. {text}"))


def _form(chance: random.Random) -> str:
    drawn = chance.random()
    for form, share in MALFORMED.items():
        if drawn < share:
            return form
        drawn -= share
    return "described"


def _malformed(caption: Caption, chance: random.Random) -> Caption:
    """Return the parts arranged so that no description follows the tag."""
    if caption.form == "empty":
        return Caption("empty", "", "", "", "", "")
    lead, end, tail = caption.lead or "{Title}.", "", ""
    if caption.form == "untagged":
        intro, tail = chance.choice(("{d}", "Descrição da imagem: {d}", "")), "\n\n#acessibilidade #{tag}"
    elif caption.form == "tag alone":
        intro = chance.choice(("#acessibilidade #{tag} #PraCegoVer", "#PraCegoVer", "#pracegover:"))
    elif caption.form == "emoji only":
        intro, end = "#PraCegoVer", " 😍😍👏"
    elif caption.form == "description first":
        lead, intro = caption.lead, chance.choice(("{d} #PraCegoVer", "{d}\n\n#pracegover #{tag}", "{d}\n#PraCegoVer"))
    else:
        word = chance.choice(("@oficialpracegover", "projetopracegover", "#pracegoverbrasil", "{link}pracegover"))
        intro = f"Siga {word} e participe da campanha! #{{tag}} #PraCegoVer"
    return replace(caption, lead=lead, intro=intro, end=end, tail=tail)


def _slots(material: Material, chance: random.Random, mention: str) -> dict[str, str]:
    tag = re.sub(r"\W", "", material.theme)
    return {
        "title": lower_first(material.title) if material.kind == "stamp" and ARTICLE.match(material.text) else material.title,
        "Title": material.title[:1].upper() + material.title[1:],
        "theme": material.theme,
        "THEME": material.theme.upper(),
        "tag": tag,
        "number": str(chance.randint(2, 9)),
        "mention": mention,
        "link": f"https://acervo.example/{without_accents(tag)}/{chance.randint(100, 999)}",
    }


def _filled(text: str, slots: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: slots.get(match[1], match[0]), text)


def _pick(chance: random.Random, choices: Sequence[tuple[str, int]]) -> str:
    return chance.choices([text for text, _ in choices], [weight for _, weight in choices])[0]
