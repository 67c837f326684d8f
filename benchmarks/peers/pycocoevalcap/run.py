"""The peer: a JSON line in, {"candidates": […], "references": [[…], …]}, a JSON line out; "time FILE": one, and its cost."""

import json
import resource
import sys
import time

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge


def scores(candidates, references):
    gts = dict(enumerate(references))
    res = {item: [text] for item, text in enumerate(candidates)}
    spent, found = {}, {}
    start = time.process_time()
    bleu, items = Bleu(4).compute_score(gts, res, verbose=0)
    spent["bleu"] = time.process_time() - start
    start = time.process_time()
    rouge, rouge_items = Rouge().compute_score(gts, res)
    spent["rouge_l"] = time.process_time() - start
    start = time.process_time()
    cider, cider_items = Cider().compute_score(gts, res)
    spent["cider"] = time.process_time() - start
    for size in range(4):
        found[f"bleu_{size + 1}"] = [float(bleu[size]), [float(value) for value in items[size]]]
    found["rouge_l"] = [float(rouge), rouge_items.tolist()]
    found["cider"] = [float(cider), cider_items.tolist()]
    return found, spent


def main():
    if sys.argv[1:2] == ["time"]:
        with open(sys.argv[2], encoding="utf-8") as file:
            corpus = json.load(file)
        found, spent = scores(corpus["candidates"], corpus["references"])
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        line = {"spent": spent, "memory MiB": memory, "corpus": {name: value for name, (value, _) in found.items()}}
        print(json.dumps(line))
        return
    for line in sys.stdin:
        corpus = json.loads(line)
        print(json.dumps(scores(corpus["candidates"], corpus["references"])[0]))


if __name__ == "__main__":
    main()
