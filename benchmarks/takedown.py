"""``python -m benchmarks.takedown``: the answer to a takedown request over a million records of a whole chain.

Makes a project (parquet shards of all columns, no media) whose records all go from the crawl through to captions, speech and
features, each output in data/, in the shard cache and in DVC's cache. Half of the pages are of one large host. Beside the answer:
reading the same columns of the same files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import beside, in_turns, medians, peak_bytes, project, seconds, show
from components.core.digests import sha256_bytes
from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.execution.engine import LocalEngine
from components.execution.stage import Stage
from components.tools.takedown.answer import answer
from components.tools.takedown.file_search import ADDRESS_COLUMNS
from components.tools.takedown.holders import NAMING

PROJECT = project()
STAGES = ("crawl", "filter", "hypernymize", "dedup", "split", "synthesize", "extract_features")
SHARD = 50_000
"""Records of a shard."""
REQUESTS = {
    "a page": ("url", "http://site-8.sample/p/16.html"),
    "a page of the large host": ("url", "http://large.sample/p/17.html"),
    "a host of 50 records": ("host", "site-8.sample"),
    "an account of 200": ("owner", "account7@example.social"),
}
PLACES = ("data/english/*/shards/*.parquet", ".hearsight/cache/*/*/*.parquet", ".dvc/cache/files/md5/*/*")


def records(stage: str, start: int, stop: int) -> pa.Table:
    """Return records of a stage, with values in the columns of addresses, names and text."""
    at, schema = range(start, stop), OUTPUT_SCHEMAS[stage][1]
    host = ["large.sample" if n % 2 else f"site-{n // 100 * 100 + 8}.sample" for n in at]
    key, image = ([sha256_bytes(b"%d %s" % (n, what))[:size] for n in at] for what, size in ((b"key", 16), (b"image", 64)))
    values = {
        "key": [f"{each}.0" for each in key] if stage == "synthesize" else key,
        "record": key, "image_sha256": image, "audio_sha256": image, "host": host,
        "page_url": [f"http://{name}/p/{n // 4 * 4 + n % 2}.html" for name, n in zip(host, at, strict=True)],
        "image_url": [f"https://{name}/i/photo,{n}.jpg?w=640" for name, n in zip(host, at, strict=True)],
        "owner": [f"account{n % 5000}@example.social" for n in at],
    }  # fmt: skip
    values["alt"] = values["text"] = values["caption"] = [f"boat {n * n % 991} and kite {n % 97} over the water" for n in at]
    neutral = {pa.string(): "", pa.int32(): 1, pa.int64(): 1, pa.float32(): 0.0}
    columns = [values.get(each.name, [neutral.get(each.type, None if each.nullable else [])] * len(at)) for each in schema]
    return pa.table([pa.array(column, each.type) for column, each in zip(columns, schema, strict=True)], schema=schema)


def make(root: Path, count: int) -> None:
    """Make the project."""
    from dvc.repo import Repo

    subprocess.run(["git", "init", "-q", root], check=True)
    Repo.init(str(root)).close()
    for stage in STAGES:
        out = root / "data" / "english" / stage
        job = Stage(stage, "english", None, root, {}, out, LocalEngine(1), root / ".hearsight", code="")
        for start in range(0, count, SHARD):
            table, name = records(stage, start, min(start + SHARD, count)), f"{start // SHARD:05d}"
            job.write_shard(name, table, ledger_table(map(kept, table["key"].to_pylist())))
            (cached := root / ".hearsight" / "cache" / stage / name).mkdir(parents=True)
            shutil.copy(out / "shards" / f"{name}.parquet", cached)
        job.finish()
    os.chdir(root)
    with Repo(str(root)) as repo:
        repo.add([f"data/english/{stage}" for stage in STAGES])
    for path in root.glob("data/english/*.dvc"):
        path.unlink()  # dvc.yaml names the same outputs
    shutil.copytree(PROJECT / "datasets", root / "datasets")
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(PROJECT / name, root / name)


def read(root: Path) -> None:
    """Read the columns that the answer reads."""
    for path in sorted(path for place in PLACES for path in root.glob(place)):
        if path.read_bytes()[:4] == b"PAR1":
            with pq.ParquetFile(path) as file:
                file.read([name for name in (*NAMING, *ADDRESS_COLUMNS) if name in file.schema_arrow.names])


def main() -> None:
    """Print a row for each request."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make(root := Path(folder).resolve() / "project", given.records)
        for name, request in REQUESTS.items():
            found = answer(root, *request).found[0]["count"]
            ways: dict[str, Callable[[], Any]] = {"ours": partial(answer, root, *request), "reading": partial(read, root)}
            spent = in_turns({way: partial(seconds, work, time.perf_counter) for way, work in ways.items()}, given.runs)
            figures = medians(spent, "s") | beside(spent) | {"peak, MB": peak_bytes() // 2**20}
            show({"request": name, "records found": found} | figures)
        os.chdir(PROJECT)


if __name__ == "__main__":
    main()
