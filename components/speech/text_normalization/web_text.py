"""Markup, addresses, handles, hashtags, file names and emoticons."""

from __future__ import annotations

import html
import re

from components.speech.text_normalization.draft import Draft

_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>|<!--.*?-->", re.DOTALL)
_UNKNOWN = re.compile(r"[<\[(](?:unk|UNK|Unk|pad|PAD|s|/s|start|end|START|END|person|PERSON)[>\])]|&lt;UNK&gt;")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_EMAIL = re.compile(r"(?<![\w.])([A-Za-z0-9][\w.+-]*)@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})")
_URL = re.compile(r"(?:https?://|ftp://|www\.)([^\s/?#<>\"')\]|:]+)(?::[0-9]+)?(?:[/?#][^\s<>\"|]*)?", re.IGNORECASE)
_DOMAIN = re.compile(
    r"(?<![\w.@-])((?:[A-Za-z0-9][A-Za-z0-9-]*\.)+(?:com|org|net|edu|gov|info|io|co\.uk|de|fr|es|it|eu|com\.br|br|pt|tv|me|ly))"
    r"(?:/[^\s<>\"|]*)?(?![\w-])",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?<![\w/.~:-])(?:[\w.:~-]{0,80}[/\\]){0,20}([\w.()-]{1,120}?)"
    r"\.(?:jpe?g|png|gif|bmp|webp|tiff?|svg|heic|raw|pdf|docx?|xlsx?|pptx?|mp4|mov|avi|zip|html?)(?!\w)",
    re.IGNORECASE,
)
_CAMERA = re.compile(r"(?:img|dsc[nf]?|dscf|pict|pxl|mvc|gopr|dji|sam|screenshot|p)?[\W_]*[0-9][0-9\W_]*", re.IGNORECASE)
_HANDLE = re.compile(r"(?<![\w.@])@([A-Za-z0-9_][\w.]*\w|\w)")
_HASHTAG = re.compile(r"(?<![\w&])[#＃](\w*[^\W\d_]\w*)")
_EMOTICON = re.compile(
    r"(?<!\S)(?:[:;=][-'^o]?[)(DPpOo3|/\\*\]\[]+|[xX]D+|</3|\^_*\^|\(:|\):|:'\(|-_+-|[oO]_[oO]|¯\\_\(ツ\)_/¯)(?=$|[\s.,!?])"
)
_LOVE = re.compile(r"(?<![\w'])(I|We|Je|J'|Yo|Eu) ?(?:<3+|♥) ?(?=\w)")
_HEART = re.compile(
    r"(?<!\S)<3+(?![0-9.,%°])(?!\s?(?:[kcm]?m|k?g|m?l|year|yr|month|week|day|hour|min|año|mes|día|an|mois|jour|heure|ano|dia)s?(?!\w))"
)
_CAMEL = re.compile(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-ZÀ-Þ])(?=[A-ZÀ-Þ][a-zà-ÿ])|(?<=[^\W\d_])(?=[0-9])|(?<=[0-9])(?=[^\W\d_])")
_CAMEL_WORD = re.compile(r"(?<![\w'-])[A-ZÀ-Þ]?[a-zà-ÿ]{2,}(?:[A-ZÀ-Þ][a-zà-ÿ]{2,})+(?![\w])")
_PREFIXES = ("Mc", "Mac", "Fitz", "De", "Di", "Du", "La", "Le", "Van", "Von", "Lo", "Del", "Mc")


def strip_markup(draft: Draft) -> None:
    """Decode HTML entities; drop tags and ``<UNK>``."""
    if "&" in draft.text:
        for _ in range(2):  # "&amp;quot;" is common enough
            draft.sub("entity", _ENTITY, lambda match: html.unescape(match[0]))
    if draft.text.isascii() and not any(mark in draft.text for mark in "<["):
        return
    draft.sub("unknown", _UNKNOWN, lambda match: " ")
    draft.sub("markup", _TAG, lambda match: " ")


def say_addresses(draft: Draft) -> None:
    """Replace addresses by their host in words; split file names, handles and hashtags into words; drop emoticons."""
    words = draft.language.words

    def host(name: str) -> str:
        name = name.lower().strip(".").removeprefix("www.").replace(".", f" {words['dot']} ")
        return f" {_CAMEL.sub(' ', name.replace('-', ' ').replace('_', ' '))} "

    def file(match: re.Match[str]) -> str:
        stem = match[1]
        return " " if _CAMERA.fullmatch(stem) else f" {split_words(stem.replace('-', ' ').replace('.', ' '))} "

    draft.sub("mail", _EMAIL, lambda match: f" {host(match[1])} {words['at']} {host(match[2])} ")
    draft.sub("handle", _HANDLE, lambda match: f" {words['at']} {split_words(match[1].replace('.', ' '))} ")
    if "." in draft.text:
        draft.sub("address", _URL, lambda match: host(match[1]) if match[1].strip(".") else " ")
        draft.sub("file", _FILE, file)
        draft.sub("address", _DOMAIN, lambda match: host(match[1]))
    draft.sub("hashtag", _HASHTAG, lambda match: f" {split_words(match[1])} ")
    draft.sub("emoticon", _EMOTICON, lambda match: " ")
    if "<3" in draft.text or "♥" in draft.text:
        draft.sub("heart", _LOVE, lambda match: f"{match[1]}{' ' * match[1].isalpha()}{words['love']} ")
        draft.sub("heart", _HEART, lambda match: words["heart"])
    draft.sub("underscores", _UNDERSCORES, lambda match: " ")


def split_words(text: str) -> str:
    """Return camel case and underscores split into words: "SunsetBeach2017" → "Sunset Beach 2017"."""
    return _CAMEL.sub(" ", text.replace("_", " "))


def split_camel(draft: Draft) -> None:
    """Split CamelCase of two or more words of three letters or more; "YouTube" and "McDonald" stay."""

    def split(match: re.Match[str]) -> str | None:
        word = match[0]
        return (
            None if word.startswith(_PREFIXES) and not word[4:].islower() and len(_CAMEL.split(word)) == 2 else split_words(word)
        )

    draft.sub("camel", _CAMEL_WORD, split)


_UNDERSCORES = re.compile("_+")
