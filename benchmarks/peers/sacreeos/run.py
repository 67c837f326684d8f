"""The peer for CIDEr-R: a JSON line in, {"candidates": […], "references": [[…], …]}, a JSON line out."""

import json
import sys

from sacreeos.metric import MetricClass
from sacreeos.metric.py_core.py_cider_scorer import PyCiderScorer

for line in sys.stdin:
    corpus = json.loads(line)
    settings = {"repeat_coeff": 0.8, "length_coeff": 0.2, "alpha": 1.0}
    mean, items = PyCiderScorer.py_compute_score(
        MetricClass.CIDEr_R, corpus["candidates"], corpus["references"], 4, None, None, settings
    )
    print(json.dumps({"cider_r": [float(mean), items.tolist()]}))
