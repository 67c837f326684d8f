"""Find the charset of a page as browsers do.

WHATWG, Encoding and HTML (13.2.3): a byte-order mark, the HTTP header, a ``<meta>`` or XML declaration, in this order. Labels are
those of ``webencodings``. As in browsers, a ``<meta>`` counts anywhere in the head, and not in the text of scripts and titles.
"""

from __future__ import annotations

import codecs
import re

import webencodings

UTF8, _WINDOWS_1252 = codecs.lookup("utf-8"), codecs.lookup("cp1252")
_MARKS = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, codecs.lookup("utf-16-le")),
    (codecs.BOM_UTF16_BE, codecs.lookup("utf-16-be")),
)
# The standard decodes GBK as GB 18030; a page whose declaration is readable as ASCII is not in UTF-16 (HTML, 13.2.3.2).
_CODECS = {"gbk": codecs.lookup("gb18030"), "x-user-defined": _WINDOWS_1252}
_NOT_DECLARED = ("utf-16le", "utf-16be")

_WINDOW = 1024
"""Bytes in which any ``<meta>`` counts; after them the search ends with the head."""
_LIMIT = 1 << 17
_SPACE = rb"[\t\n\f\r ]*+"
_NAME = rb"[^\t\n\f\r />][^\t\n\f\r />=]*+"
_VALUE = rb"""(?:"[^"]*+"|'[^']*+'|[^\t\n\f\r >"'][^\t\n\f\r >]*+|(?=>))"""
_ATTRIBUTE = re.compile(rb"[\t\n\f\r /]*+(%b)%b(?:=%b(%b)|(?!=))" % (_NAME, _SPACE, _SPACE, _VALUE))
_TOKEN = re.compile(
    rb"<(?:!(?=--).*?-->|(?!!--|/?[a-z])[!/?][^>]*+>"  # comments, declarations
    rb"|(/?[a-z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]*+%b%b(?:=%b%b|(?!=)))*+)[\t\n\f\r /]*+>"  # tags
    rb"|(?=[a-z!/?])(?P<cut>))" % (_NAME, _SPACE, _SPACE, _VALUE),
    re.I | re.S,
)
_TEXT = (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noembed", b"noframes")
"""Elements whose content is text."""
_HEAD = (b"html", b"head", b"meta", b"link", b"base", b"script", b"style", b"title", b"noscript", b"template", b"object")
_CHARSET = re.compile(
    r"""charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:"([^"]*+)"|'([^']*+)'|([^"'\t\n\f\r ;,][^\t\n\f\r ;,]*+))""", re.I | re.A
)
_XML = re.compile(rb"""<\?xml[^>]*?encoding[\0- ]*+=[\0- ]*+(?:"([^">]*+)"|'([^'>]*+)')""")


def parse_charset(content_type: str) -> str | None:
    """Return the charset that a Content-Type states, or a part of one; None without one."""
    match = _CHARSET.search(content_type)
    return match[1] or match[2] or match[3] if match else None


def find_codec(page: bytes, http_charset: str | None = None) -> tuple[codecs.CodecInfo, int]:
    """Return the codec of a page, and the size of its byte-order mark in bytes.

    A page that states no known charset is UTF-8, or Windows-1252 where it is not valid UTF-8, as browsers read it in the West.

    Args:
        http_charset: the charset of its Content-Type.
    """
    for mark, codec in _MARKS:
        if page.startswith(mark):
            return codec, len(mark)
    if stated := _look_up(http_charset or "") or _find_declared(page):
        return stated, 0
    try:
        page.decode()
    except UnicodeDecodeError:
        return _WINDOWS_1252, 0
    return UTF8, 0


def _look_up(label: str, *, declared: bool = False) -> codecs.CodecInfo | None:
    """Return the codec of a label; ``declared``: in the page itself."""
    encoding = webencodings.lookup(label)
    if encoding is None:
        return None
    if declared and encoding.name in _NOT_DECLARED:
        return UTF8
    codec: codecs.CodecInfo = _CODECS.get(encoding.name, encoding.codec_info)
    return codec


def _find_declared(page: bytes) -> codecs.CodecInfo | None:
    """Return the codec that a ``<meta>``, else an XML declaration, states."""
    for signature, (_, utf16) in ((b"<\0?\0x\0", _MARKS[1]), (b"\0<\0?\0x", _MARKS[2])):
        if page.startswith(signature):
            return utf16
    at, in_head = 0, True
    while (token := _TOKEN.search(page, at, _LIMIT)) and token["cut"] is None:
        at = token.end()
        if token[1] is None:
            continue
        name = token[1].lower()
        in_head = in_head and name.removeprefix(b"/") in _HEAD and name != b"/head"
        if token.start() >= _WINDOW and not in_head:
            break
        if name == b"meta" and (codec := _look_up(_read_meta(token[2]), declared=True)):
            return codec
        if name in _TEXT:
            end = re.compile(rb"</%b[\t\n\f\r />]" % name, re.I).search(page, at, _LIMIT)
            if end is None:
                break
            at = end.start()
    match = _XML.match(page, 0, _WINDOW)
    return _look_up((match[1] or match[2] or b"").decode("latin-1"), declared=True) if match else None


def _read_meta(attributes: bytes) -> str:
    """Return the label in a ``<meta>`` tag: its charset, else that in the content of a Content-Type; '' for none."""
    values: dict[bytes, str] = {}
    for name, value in _ATTRIBUTE.findall(attributes + b">"):
        values.setdefault(name.lower(), (value[1:-1] if value[:1] in (b'"', b"'") else value).decode("latin-1"))
    if b"charset" in values:
        return values[b"charset"]
    is_type = values.get(b"http-equiv", "").lower() == "content-type"
    return (parse_charset(values.get(b"content", "")) or "") if is_type else ""
