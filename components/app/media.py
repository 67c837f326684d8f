"""Pictures and sounds as answers: private, cached by the browser, and in parts where a player asks for one."""

from __future__ import annotations

import re

from fastapi import Request
from starlette.responses import Response

CACHED = "private, max-age=86400, immutable"
"""For addresses that name their content."""
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def media_response(request: Request, data: bytes, media_type: str) -> Response:
    """Return the bytes, or the range of them that the request asks for (some players refuse servers without ranges)."""
    headers = {"cache-control": CACHED, "accept-ranges": "bytes"}
    found = _RANGE.fullmatch(request.headers.get("range", ""))
    if found is None or found[0] == "bytes=-":
        return Response(data, media_type=media_type, headers=headers)
    first, last = found[1], found[2]
    start = int(first) if first else max(0, len(data) - int(last))
    end = min(int(last), len(data) - 1) if first and last else len(data) - 1
    if start > end:
        return Response(status_code=416, headers={"content-range": f"bytes */{len(data)}"})
    headers["content-range"] = f"bytes {start}-{end}/{len(data)}"
    return Response(data[start : end + 1], 206, media_type=media_type, headers=headers)
