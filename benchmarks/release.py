"""``python -m benchmarks.release``: images with captions as Parquet and WebDataset, next to a plain copy of the same bytes.

20,000 JPEG images of about 50 kB with a caption each, in a tar as a crawl's output has them, go through the writer of
``components.tools.release.formats``: read, without metadata, written. Two copies by ``shutil.copyfile`` stand beside it: of the
images as a file each, as people have them; and of the tar, when all ways have their bytes on the disk at the end (fsync), as a
release has. Wall seconds, medians of five turns; rates are megabytes of images a second. The target is .8 of the copy's rate.
"""

from __future__ import annotations

import argparse
import io
import shutil
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image

from benchmarks.harness import in_turns, peak_bytes, show
from benchmarks.made_media import MadeMedia
from components.core.digests import sha256_bytes
from components.core.files import sync
from components.core.shards import write_tar
from components.tools.release.formats import PARQUET, WEBDATASET, SampleWriter
from components.tools.release.split_files import Published, Record, record_tables

SIDE, QUALITY, DIFFERENT = 250, 70, 64
RUNS = 5
CAPTION = "a person in a red jacket walks along the shore of a lake, number {}"


def jpeg(seed: int) -> bytes:
    """Return a photograph's size of noise as JPEG, with EXIF of which only the metadata go."""
    draw = np.random.default_rng(seed)
    exif, out = Image.Exif(), io.BytesIO()
    exif[0x013B] = "somebody"
    Image.fromarray(draw.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)).save(out, "JPEG", quality=QUALITY, exif=exif)
    return out.getvalue()


def make(root: Path, number: int) -> tuple[list[Published], int]:
    """Write the images as a tar and as files, the captions and the records; return the records and the bytes of the images."""
    kinds = [jpeg(seed) for seed in range(DIFFERENT)]
    digests = [sha256_bytes(data) for data in kinds]
    members = {f"{at:08d}.jpg": kinds[at % DIFFERENT] for at in range(number)}
    (root / "files").mkdir()
    write_tar(root / "media" / "00000.tar", members)
    for name, data in members.items():
        (root / "files" / name).write_bytes(data)
    published = []
    with record_tables(root) as tables:
        for at, name in enumerate(members):
            record = Record(f"{at:016x}", "train", f"http://a.sample/{name}", digests[at % DIFFERENT], "en", CAPTION.format(at))
            tables.add("train", record)
            published.append(Published(record, f"00000/{name}", "JPEG", SIDE, SIDE))
    return published, sum(map(len, members.values()))


def main() -> None:
    """Print the rates and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    number = parser.parse_args().images
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        published, size = make(root, number)

        def timed(work: Callable[[], None], durable: bool) -> float:
            (root / "out").mkdir()
            shutil.copytree(root / "records", root / "out" / "records")
            start = time.perf_counter()
            work()
            if durable:
                sync(root / "out")
            took = time.perf_counter() - start
            shutil.rmtree(root / "out")
            return took

        def samples(kind: str) -> None:
            with SampleWriter(root / "out", MadeMedia(root), [kind]) as writer:
                for each in published:
                    writer.add(each, ())

        def copy(folder: str) -> None:
            for path in (root / folder).iterdir():
                shutil.copyfile(path, root / "out" / path.name)

        for durable, copied in ((False, "files"), (True, "media")):
            kinds = {kind: partial(samples, kind) for kind in (PARQUET, WEBDATASET)}
            ways = {"copy": partial(copy, copied), **kinds}
            spent = in_turns({name: partial(timed, work, durable) for name, work in ways.items()}, RUNS, warm=1)
            of = "one tar, synced" if durable else "files"
            for name, times in spent.items():
                rates = {"MB/s": size / 1e6 / median(times), "of the copy's rate": median(spent["copy"]) / median(times)}
                show({"way": name, "copied": of, "s": median(times), **rates})
        show({"images": number, "MB": size / 1e6, "peak, MiB": peak_bytes() >> 20})


if __name__ == "__main__":
    main()
