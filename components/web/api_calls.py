"""Request the addresses of a documented API, within its rate limit.

Answers that may differ tomorrow (rate limit, refused token, a search that is unavailable) end the run and are never stored.
"""

from __future__ import annotations

import asyncio
import json
import math

from components.core.errors import HearsightError
from components.web.api import Api, Ruling
from components.web.client import Client
from components.web.hosts import Host
from components.web.request import NO_SUCH_NAME, Response
from components.web.warc import Entry, index_headers


async def call_api(client: Client, api: Api, url: str) -> None:
    """Request one address of an API until it answers or the retries are used up, and store the result.

    Raises:
        HearsightError: the answer ends the run (see :class:`Ruling`); nothing of it is stored.
    """
    settings, host = client.settings, client.host(url, "api")
    async with host.gate:
        wait = settings.backoff
        for attempt in range(settings.retries + 1):
            await _wait_for_limit(client, api, host)
            await host.wait_turn(max(settings.delay, client.answers.rules(url).delay))
            entry, body, headers, reason, _ = await client.request(url, "api", api.headers(url))
            sent = index_headers(headers)
            ruling = _rule_on_failure(api, entry) if entry.failure else api.ruling(url, entry.status, sent, body)
            if entry.status == 200 and not ruling.again and not ruling.stop and not _is_json(body):
                stop = "its answer is no JSON" if api.essential(url) else ""
                ruling = Ruling(True, failure="not_json", stop=stop)
            if ruling.again:
                host.hold(ruling.pause)
            elif entry.status == 200:
                host.hold(api.rest(sent))
            if not ruling.again or attempt == settings.retries or ruling.pause > settings.max_retry_after:
                break
            await asyncio.sleep(min(wait, settings.timeout))
            wait *= 2
    if ruling.stop:
        raise _stopped(url, ruling)
    if ruling.failure and not entry.failure:
        entry, body, headers, reason = Entry(url, 0, ruling.failure, "no valid response after all retries"), b"", (), ""
    if entry.status == 200:
        body = api.reduced(url, body)
    client.keep(Response(entry, api.scrub(body), tuple(api.scrubbed(headers)), reason))


def _rule_on_failure(api: Api, entry: Entry) -> Ruling:
    """Return the ruling for a request without an answer."""
    again = entry.failure in ("timeout", "connection", "dns") and entry.detail != NO_SUCH_NAME
    stop = f"it cannot be reached ({entry.failure}: {entry.detail})" if api.essential(entry.url) else ""
    return Ruling(again, stop=stop, hint="check the network and crawl.source.server")


def _stopped(url: str, ruling: Ruling) -> HearsightError:
    pause = f" and it asks to wait {math.ceil(ruling.pause)} s" if ruling.pause else ""
    later = "run the stage again later; fetched answers are kept and not requested again"
    return HearsightError(f"{ruling.stop}{pause}", where=url.partition("?")[0], hint=ruling.hint or later)


async def _wait_for_limit(client: Client, api: Api, host: Host) -> None:
    """Wait until the API may be requested again, with a progress bar.

    Raises:
        HearsightError: the wait would exceed ``max_retry_after``.
    """
    async with client.waiting:
        remaining = host.held_until - asyncio.get_running_loop().time()
        limit = client.settings.max_retry_after
        if remaining > limit:
            raise HearsightError(
                f"its rate limit is used up for {math.ceil(remaining)} s, and crawl.max_retry_after is {limit:g}",
                where=api.prefix,
                hint="run the stage again after that; fetched answers are kept and not requested again",
            )
        if remaining > 1.0:
            seconds = range(math.ceil(remaining))
            for _ in client.progress(seconds, total=len(seconds), desc="waiting for the API's rate limit (s)"):
                await asyncio.sleep(min(1.0, max(0.0, host.held_until - asyncio.get_running_loop().time())))


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
