"""Images beside img2dataset: refused by header, looked at, and from a server to shards: ``python -m benchmarks.images``.

Input: images of the sample's packages as they are, and photograph-like JPEGs of 1 to 4 Mpx made from them, three in four
baseline and one progressive. Runs alternate, each in a process of its own, imports and reading of files untimed; a figure is
the ratio of medians, img2dataset's seconds by ours. Folders are worked on in one thread, three times in a row, and cost
processor seconds. The end-to-end feeds take seconds by the clock (and processor seconds, imports included); half of each are
rejects: too small (40 of 100), too narrow (30), HTML (20), missing (10). img2dataset gets the same limits and as many processes.
There are two feeds, one five times the other: starting up counts in both, and what one more address costs is their difference by
that of their lengths.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import PACKAGES, PEERS, beside, column, environment, in_turns, measured, ours, project, show
from benchmarks.images_feed import MAX_ASPECT, MIN_SIDE, make_feed, make_folders

PROCESSES = 2
PASSES = 3
"""Times a folder is looked at, in a row: a hundred small images alone are over too soon to be timed."""


def ours_look(folder: str) -> dict[str, Any]:
    """Decode, validate, hash, thumbnail: everything ``decode_image`` keeps."""
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
    where, state = Path(home), Path(home) / ".hearsight"
    stage = Stage("crawl", "english", params, where, {}, out, LocalEngine(PROCESSES), state, "the code of a benchmark")
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


VERBS: dict[str, Callable[..., Any]] = {"look": ours_look, "head": ours_head, "crawl": ours_crawl, "serve": serve}


# -- side by side ----------------------------------------------------------------------------------------------------------

Runs = dict[str, list[dict[str, Any]]]


def report(what: str, images: int, runs: Runs) -> None:
    """Print rates and the ratio of medians, with its least and greatest turn."""
    row: dict[str, Any] = {"what": what, "images": images}
    for side, found in runs.items():
        row |= {f"{side}, kept": found[0]["kept"], f"{side}, images a s": round(images / middle(found, "seconds"), 1)}
    row |= beside({side: column(found, "seconds") for side, found in runs.items()})
    if "processors" in runs["ours"][0]:
        row |= {f"{side}, CPU s": round(middle(found, "processors"), 2) for side, found in runs.items()}
        row["img2dataset / ours, CPU"] = round(middle(runs["img2dataset"], "processors") / middle(runs["ours"], "processors"), 2)
    show(row)


def middle(runs: list[dict[str, Any]], key: str) -> float:
    """Return the median of one figure over runs."""
    return statistics.median(column(runs, key))


def main() -> None:
    """Make the input, run everything in turns, print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--images", type=int, default=100, help="files a folder; 4 and 20 times as many addresses a feed")
    parser.add_argument(
        "--only", default="", help="run only what is named so: photographs, progressive, jpegs, pngs, heads, feed"
    )
    parser.add_argument("--verb", nargs="+", help="one measurement of ours in this process, or the loopback server")
    options = parser.parse_args()
    if options.verb:
        if (result := VERBS[options.verb[0]](*options.verb[1:])) is not None:
            print(json.dumps(result))
        return
    peer = [environment("img2dataset"), PEERS / "img2dataset" / "run.py"]
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        folders = make_folders(PACKAGES.parent, base / "folders", options.images)
        for name, folder in folders.items():
            if options.only in ("", name):
                verb, limits, what = "look", ["0", "inf"], f"looked at: {name}"
                if name == "heads":
                    verb, limits, what = "head", [MIN_SIDE[name], MAX_ASPECT], "refused by header (theirs with the same limits)"
                commands = {"ours": [*ours("images"), "--verb", verb, folder], "img2dataset": [*peer, "resize", folder, *limits]}
                ways = {side: lambda command=command: measured(*command) for side, command in commands.items()}
                report(what, len(list(folder.iterdir())), in_turns(ways, options.runs))
        if options.only in ("", "feed"):
            counts = (options.images * 4, options.images * 20)
            few, many = (end_to_end(folders, base / f"feed-{count}", count, options.runs, peer) for count in counts)
            for name, key in (("wall", "seconds"), ("CPU", "processors")):
                more = {side: (middle(many[side], key) - middle(few[side], key)) / (counts[1] - counts[0]) * 1000 for side in few}
                row: dict[str, Any] = {"what": f"end to end, one more address, {name}"}
                row |= {f"{side}, ms": round(spent, 2) for side, spent in more.items()}
                show(row | {"img2dataset / ours": round(more["img2dataset"] / more["ours"], 2)})


def end_to_end(folders: dict[str, Path], base: Path, count: int, runs: int, peer: list[Any]) -> Runs:
    """Serve a feed of ``count`` addresses, crawl it by both in turns, print and return the runs."""
    feed = make_feed(folders, base / "feed", count, random.Random(1))
    command = [*ours("images"), "--verb", "serve", str(feed.folder)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=project())
    try:
        assert server.stdout is not None
        origin = f"http://127.0.0.1:{int(server.stdout.readline())}"
        addresses = base / "feed.tsv"
        addresses.write_text("url\tcaption\n" + "".join(f"{origin}{path}\t{alt}\n" for path, alt in feed.images))
        limits = [MIN_SIDE["feed"], MAX_ASPECT, PROCESSES]

        def run_in(*command: Any) -> dict[str, Any]:
            home = base / "home"
            try:
                return measured(*(home if word is None else word for word in command))
            finally:
                shutil.rmtree(home, ignore_errors=True)

        found = in_turns(
            {
                "ours": lambda: run_in(*ours("images"), "--verb", "crawl", f"{origin}/", None),
                "img2dataset": lambda: run_in(*peer, "download", addresses, None, *limits),
            },
            runs,
        )
        report("end to end, 50 % rejects", count, found)
        return found
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
