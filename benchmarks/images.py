"""Images beside img2dataset: refused by header, looked at, and from a server to shards: ``python -m benchmarks.images``.

Input: pictures of the sample's packages as they are, and photograph-like JPEGs of 1 to 4 Mpx made from them, three in four
baseline and one progressive. Runs alternate, each in a process of its own, imports and reading of files untimed; a figure is
the ratio of medians, img2dataset's seconds by ours. Folders are worked on in one thread and cost processor seconds. The
end-to-end feed takes seconds by the clock (and processor seconds, imports included); half of it are rejects: too small (40 of
100), too narrow (30), HTML (20), missing (10). img2dataset gets the same limits and as many processes.
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
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.images_feed import MAX_ASPECT, MIN_SIDE, make_feed, make_folders

ROOT = Path(__file__).resolve().parent.parent
PEER = ROOT / "benchmarks" / "peers" / "img2dataset"
PROCESSES = 2


def peer_python() -> str:
    """The interpreter of img2dataset's own environment, made at the first call."""
    python = PEER / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER / ".venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", str(PEER / "requirements.txt")], check=True)
    return str(python)


def measured(*command: str) -> dict[str, Any]:
    """The JSON line that a run ends with."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


# -- ours, each run in a process of its own --------------------------------------------------------------------------------


def ours_look(folder: str) -> dict[str, Any]:
    """Decode, validate, hash, thumbnail: everything ``image.look`` keeps."""
    from components.crawl.image import look

    files = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    look(files[0])
    began = time.process_time()
    kept = sum(not look(data).reason for data in files)
    return {"seconds": time.process_time() - began, "kept": kept}


def ours_head(folder: str) -> dict[str, Any]:
    """The verdict on headers and first bytes, as the fetcher gives it; repeated, since once takes no time."""
    from components.crawl.web.early import PREFIX, Limits, by_headers, by_prefix

    limits, kinds = Limits(20_000_000, MIN_SIDE["heads"], MAX_ASPECT), {".jpg": "image/jpeg", ".png": "image/png"}
    files = [(kinds[path.suffix], path.read_bytes()) for path in sorted(Path(folder).iterdir())]
    repeat = 50
    began = time.process_time()
    for _ in range(repeat):
        kept = 0
        for kind, data in files:
            sent = {"content-type": kind, "content-length": str(len(data))}
            kept += not (by_headers(sent, limits) or by_prefix(data[:PREFIX], limits, last=False))
    return {"seconds": (time.process_time() - began) / repeat, "kept": kept}


def ours_crawl(seed: str, home: str) -> dict[str, Any]:
    """The whole crawl stage: pages, robots.txt, images, WARC, decoding, shards, ledger, manifest."""
    from components.core.boundary import Boundary
    from components.core.engine import LocalEngine
    from components.core.params import parse_settings, read_params_file
    from components.core.stage import Stage
    from components.crawl import Params, run

    out = Path(home) / "data/english/crawl"
    out.mkdir(parents=True)
    ours = {
        "snapshot": "bench", "web": "open", "contact": "http://example.org/", "allow_private": True, "delay": 0.0, "retries": 0,
        "seeds": [seed], "hosts": [seed.split("/")[2]], "depth": 1, "max_pages": 1000, "per_host": 32, "connections": 64,
        "timeout": 30.0, "min_side": MIN_SIDE["feed"], "max_aspect": MAX_ASPECT, "min_alt": 1, "shard_size": 200,
    }  # fmt: skip
    params = parse_settings(Params, read_params_file(ROOT / "params.yaml")["english"]["crawl"] | ours, "benchmarks.images")
    stage = Stage("crawl", "english", params, ROOT, {}, out, LocalEngine(PROCESSES), Path(home) / ".hearsight")
    began = time.perf_counter()
    run(stage)
    stage.finish()
    seconds = time.perf_counter() - began
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processors = sum(one.ru_utime + one.ru_stime for one in used)
    return {
        "seconds": seconds,
        "kept": Boundary(out).table().num_rows,
        "processors": processors,
        "own": used[0].ru_utime + used[0].ru_stime,
    }


# -- the loopback server, in a process of its own ---------------------------------------------------------------------------


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


# -- side by side ----------------------------------------------------------------------------------------------------------


def alternate(runs: int, ours: Callable[[int], dict[str, Any]], theirs: Callable[[int], dict[str, Any]]) -> tuple[Any, Any]:
    """``runs`` of each in turns; returns both lists."""
    mine, peers = [], []
    for number in range(runs):
        mine.append(ours(number))
        peers.append(theirs(number))
    return mine, peers


def report(what: str, images: int, mine: list[dict[str, Any]], peers: list[dict[str, Any]]) -> None:
    """One JSON line with rates, the ratio of medians, and its least and greatest over the pairs of runs."""
    one, other = (statistics.median(run["seconds"] for run in runs) for runs in (mine, peers))
    pairs = [peer["seconds"] / my["seconds"] for my, peer in zip(mine, peers, strict=True)]
    line = {
        "what": what,
        "images": images,
        "kept": [mine[0]["kept"], peers[0]["kept"]],
        "hearsight per s": round(images / one, 1),
        "img2dataset per s": round(images / other, 1),
        "ratio": round(other / one, 2),
        "pairs": [round(min(pairs), 2), round(max(pairs), 2)],
    }
    if "processors" in mine[0]:
        both = [statistics.median(run["processors"] for run in runs) for runs in (mine, peers)]
        line["processor seconds"] = [round(used, 2) for used in both] + [round(both[1] / both[0], 2)]
    print(json.dumps(line), flush=True)


def main() -> None:
    """Make the input, run everything in turns, print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--images", type=int, default=100, help="files a folder; eight times as many addresses in the feed")
    parser.add_argument(
        "--only", default="", help="run only what is named so: photographs, progressive, jpegs, pngs, heads, feed"
    )
    options = parser.parse_args()
    python, peer = sys.executable, [peer_python(), str(PEER / "run.py")]
    ours = [python, "-m", "benchmarks.images"]
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        folders = make_folders(ROOT / "data" / "packages", base / "folders", options.images)
        for name, folder in folders.items():
            if options.only not in ("", name):
                continue
            images = len(list(folder.iterdir()))
            if name == "heads":
                limits = [str(MIN_SIDE[name]), str(MAX_ASPECT)]
                what, verb = "refused by header (theirs with the same limits)", "head"
            else:
                what, verb, limits = f"looked at: {name}", "look", ["0", "inf"]
            runs = alternate(
                options.runs,
                lambda _, verb=verb, folder=folder: measured(*ours, verb, str(folder)),
                lambda _, folder=folder, limits=limits: measured(*peer, "resize", str(folder), *limits),
            )
            report(what, images, *runs)
        if options.only not in ("", "feed"):
            return
        feed = make_feed(folders, base / "feed", options.images * 8, random.Random(1))
        server = subprocess.Popen([*ours, "serve", str(feed.folder)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            assert server.stdout is not None
            origin = f"http://127.0.0.1:{int(server.stdout.readline())}"
            addresses = base / "feed.tsv"
            addresses.write_text("url\tcaption\n" + "".join(f"{origin}{path}\t{alt}\n" for path, alt in feed.images))

            def crawl(number: int) -> dict[str, Any]:
                home = base / f"ours-{number}"
                try:
                    return measured(*ours, "crawl", f"{origin}/", str(home))
                finally:
                    shutil.rmtree(home, ignore_errors=True)

            def download(number: int) -> dict[str, Any]:
                out = base / f"theirs-{number}"
                limits = [str(MIN_SIDE["feed"]), str(MAX_ASPECT), str(PROCESSES)]
                try:
                    return measured(*peer, "download", str(addresses), str(out), *limits)
                finally:
                    shutil.rmtree(out, ignore_errors=True)

            report("end to end, 50 % rejects", len(feed.images), *alternate(options.runs, crawl, download))
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    verbs: dict[str, Callable[..., Any]] = {"look": ours_look, "head": ours_head, "crawl": ours_crawl, "serve": serve}
    if len(sys.argv) > 1 and sys.argv[1] in verbs:
        result = verbs[sys.argv[1]](*sys.argv[2:])
        if result is not None:
            print(json.dumps(result))
    else:
        main()
