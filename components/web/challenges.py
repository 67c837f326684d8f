"""Recognise pages that ask for proof of a human in place of what was asked for, by status, headers and structure, not by words.

A page is one if it is thin (little text, few links, nothing to fill in) and its tags or scripts are those of a challenge. Pages
about captchas, and forms with one, have text, links or fields. Sources: the documents of Cloudflare (cf-mitigated), AWS WAF
(x-amzn-waf-action) and Vercel (x-vercel-mitigated), and the markup of their pages and those of others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

FAILURE = "challenge"
"""The failure class of an answer that is a challenge."""
LONGEST = 1 << 16
"""Bytes of the longest page that is looked at; known ones have 1 to 35 kB."""
_HEADERS = {
    "cf-mitigated": ("challenge",),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "x-vercel-mitigated": ("challenge",),
    "sg-captcha": ("challenge",),
}
"""Headers of challenges alone, with their values. The next ones come with passed pages too, unless the status refuses."""
_REFUSING = ("x-datadome", "x-dd-b", "x-kpsdk-ct", "x-sucuri-block")
HEADERS = (*_HEADERS, *_REFUSING)
_MOST_TEXT, _MOST_LINKS = 1000, 8
_GATE = (b"captcha", b"hallenge", b"_cf_chl", b"_Incapsula_", b"sucuri_", b"KPSDK", b"gokuProps", b"sec-if-cpt", b"turnstile")
_CODE = re.compile(rb"<script\b.*?(?:</script|$)|<[a-z!/][^>]*", re.S | re.I)
_HIDDEN = re.compile(rb"<!--.*?(?:-->|$)|<(script|style|noscript|template|svg)\b.*?(?:</\1|$)", re.S | re.I)
_TAG = re.compile(rb"<[a-z!/][^>]*>?", re.I)
_MARKS = re.compile(
    rb"_cf_chl_opt|/cdn-cgi/challenge-platform/h/\w/orchestrate|cf-browser-verification|__cf_chl_|captcha-delivery\.com/"
    rb"|\bid=[\"']?px-captcha|/_Incapsula_Resource\?|gokuProps|sucuri_cloudproxy_js|window\.KPSDK|sec-if-cpt-container"
    rb"|/_sec/cp_challenge|\bid=[\"']?anubis_challenge|/\.well-known/(?:sgcaptcha|vercel/security|ddos-guard/(?:js-)?challenge)"
    rb"|\bclass=[\"'](?:[^\"']{0,200} )?(?:g-recaptcha|h-captcha|cf-turnstile)\b|^<meta\s.*refresh.*captcha",
    re.I,
)
_FIELDS = re.compile(rb"<(?:textarea|select)\b|<input\b(?![^<>]*\btype=[\"']?(?:hidden|submit|button|image))", re.I)
_LINKS = re.compile(rb"<a\s[^>]*\bhref", re.I)


def find_challenge(status: int, sent: Mapping[str, str], body: bytes) -> str:
    """Return what shows that an answer is a challenge; '' for any other answer.

    Args:
        sent: its headers, by lower-case name.
        body: b'' to look at the headers alone.
    """
    for name, values in _HEADERS.items():
        if name in sent and sent[name].strip().lower() in values:
            return f"{name}: {sent[name].strip().lower()}"
    if status in (401, 403, 405, 429, 503):
        for name in _REFUSING:
            if name in sent:
                return f"{status} with {name}"
    # Cheap checks first: almost every page has more links, or none of the words.
    if not body or len(body) > LONGEST or body.count(b"<a ") > _MOST_LINKS or not any(word in body for word in _GATE):
        return ""
    mark = next(filter(None, map(_MARKS.search, _CODE.findall(body))), None)
    return mark[0].decode("latin-1")[-60:] if mark and _is_thin(body) else ""


def _is_thin(body: bytes) -> bool:
    shown = _HIDDEN.sub(b" ", body)
    text = b" ".join(_TAG.sub(b" ", shown).split())
    characters = len(text.decode("utf-8", "replace"))
    return characters <= _MOST_TEXT and len(_LINKS.findall(shown)) <= _MOST_LINKS and not _FIELDS.search(shown)
