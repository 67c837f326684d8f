"""img2dataset on the input of ``benchmarks/images.py``; runs in its own environment and prints one JSON line.

``resize FOLDER MIN_SIDE MAX_ASPECT`` gives every file of a folder to its Resizer (default options otherwise), in one thread,
and counts processor seconds, which a busy machine disturbs less. ``download LIST OUT MIN_SIDE MAX_ASPECT PROCESSES`` runs the
whole program over a list of addresses and counts seconds by the clock, and those of its processors. Imports are not timed.
"""

import io
import json
import resource
import sys
import time
from pathlib import Path

PASSES = 3


def resize(folder: str, min_side: str, max_aspect: str) -> dict:
    from img2dataset.resizer import Resizer

    resizer = Resizer(256, "border", False, min_image_size=int(min_side), max_aspect_ratio=float(max_aspect))
    files = [path.read_bytes() for path in sorted(Path(folder).iterdir())]
    resizer(io.BytesIO(files[0]))
    began = time.process_time()
    kept = sum(resizer(io.BytesIO(data))[0] is not None for _ in range(PASSES) for data in files)
    return {"seconds": (time.process_time() - began) / PASSES, "kept": kept // PASSES}


def download(addresses: str, out: str, min_side: str, max_aspect: str, processes: str) -> dict:
    import img2dataset

    began = time.perf_counter()
    img2dataset.download(
        url_list=addresses,
        input_format="tsv",
        url_col="url",
        caption_col="caption",
        output_folder=out,
        output_format="webdataset",
        processes_count=int(processes),
        number_sample_per_shard=200,
        min_image_size=int(min_side),
        max_aspect_ratio=float(max_aspect),
    )
    seconds = time.perf_counter() - began
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    kept = sum(json.loads(path.read_text())["successes"] for path in Path(out).glob("*_stats.json"))
    return {"seconds": seconds, "kept": kept, "processors": sum(one.ru_utime + one.ru_stime for one in used)}


if __name__ == "__main__":
    print(json.dumps({"resize": resize, "download": download}[sys.argv[1]](*sys.argv[2:])))
