"""An exported post."""

from __future__ import annotations

from tests.support.crawl.social import MEDIA

TEXT = "Olá\n#PraCegoVer foto de um barco.\n\n#fim"


def line(number: int = 1, **more) -> dict:
    """Return an exported post."""
    post = {
        "id": f"p{number}",
        "url": f"https://www.instagram.com/p/{number}/",
        "owner": "museu",
        "posted": "2020-05-06T07:08:09-03:00",
        "collected": "2020-05-07T00:00:00Z",
        "caption": TEXT,
        "language": "pt-BR",
        "images": [{"url": f"{MEDIA}/{number:08d}-{place}.jpg", "alt": f"alt {place}"} for place in (0, 1)],
    }
    return post | more
