"""Numbers that the compiled scanner (``tags``) and its callers share. Nothing here needs the compiler."""

from __future__ import annotations

from components.web.html.offers import OFFERING

ATTRIBUTES = ("alt", *OFFERING, "type", "href", "lang", "name", "content", "property", "role")
"""The attributes that are reported, by their code."""
IMG, SOURCE, PICTURE, PICTURE_END, BASE, HTML, META, NOSCRIPT, NOSCRIPT_END, HREF = range(-1, -11, -1)
"""Codes of the tags that are reported, and of the address of the link around an image."""
WIDTH, HEIGHT = 1 << 1, 1 << 21
"""Factors of an image's size in its row."""
TITLE, LINK, CAPTION = 0, 7, 8
"""Kinds of texts; those of headings are their level, 1 to 6."""
GAP, INLINE = 32, 1
"""Bytes that stand in a text for the tag of a block, and for another tag or a comment."""
STACK, DEEPEST_FIGURE = 16, 62
STATE_SIZE = STACK + DEEPEST_FIGURE + 2
"""Numbers of the scanner's state; see ``tag_texts``."""
