"""imagededup 0.3.3 as its documentation shows it. Prints one JSON line.

hashes FILE METHOD   search 64-bit hashes (JSON: name -> 16 hex digits) at up to 10 bits
folder FOLDER OUT    pHash of every picture in a folder, pairs at up to 10 bits into OUT
"""

import json
import os
import sys
import time
import types

# Its network needs weights from the net and a build of torchvision that fits; hashing needs neither.
sys.modules["imagededup.methods.cnn"] = types.SimpleNamespace(CNN=None)
sys.modules["imagededup.utils.models"] = types.SimpleNamespace(CustomModel=None)

from imagededup.methods import PHash  # noqa: E402


def main():
    what, path, last = sys.argv[1:4]
    hasher = PHash(verbose=False)
    before = time.perf_counter(), sum(os.times()[:4])
    if what == "hashes":
        with open(path) as handle:
            encodings = json.load(handle)
        before = time.perf_counter(), sum(os.times()[:4])
        found = hasher.find_duplicates(encoding_map=encodings, max_distance_threshold=10, search_method=last, num_dist_workers=0)
    else:
        encodings = hasher.encode_images(image_dir=path, num_enc_workers=0)
        found = hasher.find_duplicates(encoding_map=encodings, max_distance_threshold=10, num_dist_workers=0)
        pairs = sorted({tuple(sorted((one, other))) for one, others in found.items() for other in others})
        with open(last, "w") as handle:
            json.dump(pairs, handle)
    line = {"seconds": time.perf_counter() - before[0], "processors": sum(os.times()[:4]) - before[1], "items": len(encodings)}
    line["pairs"] = sum(len(others) for others in found.values()) // 2
    print(json.dumps(line))


if __name__ == "__main__":
    main()
