"""Ours in ``benchmarks/images.py``: one measurement a process, named by a verb; prints one JSON line. And the loopback server."""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.images_feed import MAX_ASPECT, MIN_SIDE

PROCESSES = 2
PASSES = 3
"""Times a folder is looked at, in a row: a hundred small pictures alone are over too soon to be timed."""


def ours_look(folder: str) -> dict[str, Any]:
    """Decode, validate, hash, thumbnail: everything ``image.look`` keeps."""
    from components.web.images.image import decode_image

    files = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    decode_image(files[0])
    began = time.process_time()
    kept = sum(not decode_image(data).reason for _ in range(PASSES) for data in files)
    return {"seconds": (time.process_time() - began) / PASSES, "kept": kept // PASSES}


def ours_head(folder: str) -> dict[str, Any]:
    """The verdict on headers and first bytes, as the fetcher gives it; repeated, since once takes no time."""
    from components.web.image_precheck import PREFIX, check_headers, check_prefix
    from components.web.settings import FetchSettings

    settings = FetchSettings(min_side=MIN_SIDE["heads"], max_aspect=MAX_ASPECT)
    kinds = {".jpg": "image/jpeg", ".png": "image/png"}
    files = [(kinds[path.suffix], path.read_bytes()) for path in sorted(Path(folder).iterdir())]
    repeat = 50
    began = time.process_time()
    for _ in range(repeat):
        kept = 0
        for kind, data in files:
            sent = {"content-type": kind, "content-length": str(len(data))}
            kept += not (check_headers(sent, settings) or check_prefix(data[:PREFIX], settings, last=False))
    return {"seconds": (time.process_time() - began) / repeat, "kept": kept}


def ours_crawl(seed: str, home: str) -> dict[str, Any]:
    """The whole crawl stage: pages, robots.txt, images, WARC, decoding, shards, ledger, manifest."""
    from components.core.params import parse_settings
    from components.core.stage_output import StageOutput
    from components.execution.engine import LocalEngine
    from components.execution.stage import Stage
    from components.stages.crawl import Params
    from components.stages.crawl.run import run

    out = Path(home) / "data/english/crawl"
    out.mkdir(parents=True)
    ours = {
        "snapshot": "bench", "contact": "http://example.org/", "allow_private": True, "delay": 0.0, "retries": 0,
        "source": {"kind": "site", "seeds": [seed], "hosts": [seed.split("/")[2]], "depth": 1, "sitemaps": False},
        "tdmrep": False, "per_host": 32, "connections": 64,
        "timeout": 30.0, "min_side": MIN_SIDE["feed"], "max_aspect": MAX_ASPECT, "min_alt": 1, "shard_size": 200,
    }  # fmt: skip
    params = parse_settings(Params, ours, "benchmarks.images")
    stage = Stage("crawl", "english", params, Path(home), {}, out, LocalEngine(PROCESSES), Path(home) / ".hearsight", code="")
    began = time.perf_counter()
    run(stage)
    stage.finish()
    seconds = time.perf_counter() - began
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processors = sum(one.ru_utime + one.ru_stime for one in used)
    return {
        "seconds": seconds,
        "kept": StageOutput(out).table().num_rows,
        "processors": processors,
        "own": used[0].ru_utime + used[0].ru_stime,
    }


def serve(folder: str) -> None:
    """Serve ``folder`` from memory; prints the port."""
    kinds = {".jpg": "image/jpeg", ".png": "image/png", ".html": "text/html; charset=utf-8"}
    files = {f"/{path.name}": (kinds.get(path.suffix, "image/jpeg"), path.read_bytes()) for path in Path(folder).iterdir()}
    files["/"] = files.pop("/index.html")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                kind, body = files.get(request.split(b" ", 2)[1].decode(), ("text/plain", b""))
                status = "200 OK" if body else "404 Not Found"
                close = b"connection: close" in request.lower()
                writer.write(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
                if close:
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())


if __name__ == "__main__":
    verbs: dict[str, Callable[..., Any]] = {"look": ours_look, "head": ours_head, "crawl": ours_crawl, "serve": serve}
    result = verbs[sys.argv[1]](*sys.argv[2:])
    if result is not None:
        print(json.dumps(result))
