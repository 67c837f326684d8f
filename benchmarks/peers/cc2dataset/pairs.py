"""cc2dataset's own extractor over one WAT file; nothing of it is changed."""

import json
import sys
import time
from io import BytesIO

from cc2dataset.main import extract_documents_from_wat

if __name__ == "__main__":
    wall, cpu = time.perf_counter(), time.process_time()
    with open(sys.argv[1], "rb") as handle:  # as its process_wat does: the whole file at once
        found = extract_documents_from_wat(BytesIO(handle.read()), "image")
    line = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "pairs": len(found)}
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            out.writelines(json.dumps((pair["page_url"], pair["url"], pair["alt"])) + "\n" for pair in found)
    print(json.dumps(line))
