"""Errors and rate limits of Instagram's Graph API (developers.facebook.com/docs/instagram-platform)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from components.web.api import Api, Ruling

RATE_LIMITS = (4, 17, 32, 613, 80002)
"""Error codes of rate limits: of the app, the user, the page, the call, the business use case."""
HASHTAG_LIMIT = 18
NOT_FOUND = (24, 110)
"""Error codes of an account that cannot be found: private, personal, renamed or deleted."""
NOT_FOUND_SUBCODES = (2207013,)
RATE_WINDOW = 3600.0
"""Seconds of the rate limit window, for answers that do not state the remaining time."""


def error_of(body: bytes) -> tuple[int, int, str]:
    """Return (code, subcode, message) of an error answer; zeros where it has none."""
    try:
        error = json.loads(body)["error"]
        codes = [error.get(name) if type(error.get(name)) is int else 0 for name in ("code", "error_subcode")]
        return codes[0], codes[1], " ".join(str(error.get("message", "")).split())[:200]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0, 0, ""


def seconds_to_reset(sent: Mapping[str, str]) -> float:
    """Return the seconds until calls are allowed again by X-Business-Use-Case-Usage (in minutes); 0 if not stated."""
    try:
        usages = json.loads(sent.get("x-business-use-case-usage", "{}"))
        minutes = [usage["estimated_time_to_regain_access"] for group in usages.values() for usage in group]
        return max((60.0 * value for value in minutes if isinstance(value, (int, float)) and value < 1e6), default=0.0)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0.0


class GraphApi(Api):
    """API addresses. Its terms are the app's contract with the platform, so robots.txt does not apply."""

    def essential(self, url: str) -> bool:
        return "/ig_hashtag_search?" in url or "/recent_media?" in url

    def ruling(self, url: str, status: int, sent: Mapping[str, str], body: bytes) -> Ruling:
        """See :class:`Api`; errors are JSON with a code, mostly with status 400 or 403."""
        code, subcode, message = error_of(body) if status != 200 else (0, 0, "")
        error_text = f"error {code}{f'/{subcode}' if subcode else ''}"
        if code in RATE_LIMITS:
            return Ruling(True, seconds_to_reset(sent) or RATE_WINDOW, stop=f"its rate limit is used up ({error_text})")
        if code == HASHTAG_LIMIT:
            return Ruling(
                stop=f"30 hashtags were searched within seven days ({error_text})",
                hint="wait until the oldest of them is more than seven days old",
            )
        if code in (102, 190):
            return self.refused()
        if code in (3, 10) or 200 <= code < 300:
            hint = "grant the app instagram_basic and Public Content Access, and the token's user access to its page"
            return Ruling(stop=f"the token lacks a permission ({error_text})", hint=hint)
        if code in (1, 2):
            return Ruling(True, failure="http_500", stop=f"it answers {error_text}" if self.essential(url) else "")
        if code and self.essential(url):
            text = self.scrub(message.encode()).decode("utf-8", "replace")
            return Ruling(stop=f"it answers {error_text} ({text})", hint="check that crawl.source.tag is an Instagram hashtag")
        return super().ruling(url, status, sent, body)

    def rest(self, sent: Mapping[str, str]) -> float:
        return max(super().rest(sent), seconds_to_reset(sent))
