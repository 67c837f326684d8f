"""The plain script one writes with FastWARC and selectolax: every image's address and alt-text out of a gzip WARC."""

import json
import sys
import time
from urllib.parse import urljoin

from fastwarc.warc import ArchiveIterator, WarcRecordType
from selectolax.lexbor import LexborHTMLParser


def pairs(path):
    with open(path, "rb") as stream:
        for record in ArchiveIterator(stream, record_types=WarcRecordType.response, parse_http=True):
            if not (record.http_content_type or "").startswith("text/html"):
                continue
            page = record.headers.get("WARC-Target-URI")
            for image in LexborHTMLParser(record.reader.read()).css("img"):
                attributes = image.attributes
                source, alt = attributes.get("src"), attributes.get("alt")
                if source and alt:
                    yield page, urljoin(page, source), alt


if __name__ == "__main__":
    wall, cpu = time.perf_counter(), time.process_time()
    found = list(pairs(sys.argv[1]))
    line = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "pairs": len(found)}
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as handle:
            handle.writelines(json.dumps(pair) + "\n" for pair in found)
    print(json.dumps(line))
