"""Recalls that the paper reports (CSC tables 1 and 2): R@1, 5, 10, 50 and 100 in both directions, by row name.

Table 2 prints ".550" as R@1 image to speech of the audio warm start; this module has .055, since R@5 is .166. Table 4 prints
.558, the R@10 of table 2, as R@5; this module has table 2's .435.
"""

from __future__ import annotations

from components.stages.evaluate_retrieval.scoring import TO_IMAGE, TO_SPEECH

DEPTHS = (1, 5, 10, 50, 100)
TABLE_1 = {
    "triplet-48": {TO_IMAGE: (0.037, 0.109, 0.165, 0.367, 0.474), TO_SPEECH: (0.031, 0.101, 0.155, 0.346, 0.455)},
    "mms-12": {TO_IMAGE: (0.025, 0.083, 0.129, 0.311, 0.432), TO_SPEECH: (0.024, 0.083, 0.132, 0.315, 0.433)},
    "mms-24": {TO_IMAGE: (0.054, 0.143, 0.206, 0.418, 0.533), TO_SPEECH: (0.046, 0.137, 0.197, 0.411, 0.520)},
    "mms-48": {TO_IMAGE: (0.078, 0.204, 0.282, 0.499, 0.604), TO_SPEECH: (0.074, 0.194, 0.269, 0.485, 0.587)},
}
"""Conceptual Spoken Captions, validation: loss and batch size."""
TABLE_2 = {
    "none-100": {TO_IMAGE: (0.018, 0.063, 0.101, 0.288, 0.428), TO_SPEECH: (0.024, 0.072, 0.124, 0.332, 0.458)},
    "audio-100": {TO_IMAGE: (0.041, 0.138, 0.211, 0.467, 0.613), TO_SPEECH: (0.055, 0.166, 0.241, 0.522, 0.654)},
    "image-100": {TO_IMAGE: (0.062, 0.190, 0.279, 0.560, 0.703), TO_SPEECH: (0.081, 0.242, 0.352, 0.664, 0.782)},
    "both-100": {TO_IMAGE: (0.139, 0.368, 0.495, 0.781, 0.875), TO_SPEECH: (0.182, 0.435, 0.558, 0.842, 0.910)},
}
"""Flickr Audio Caption Corpus, test: what is warm-started."""
TABLES = {"table 1": TABLE_1, "table 2": TABLE_2}
TITLES = {
    "table 1": "Conceptual Spoken Captions, validation: 3.3 million synthetic captions, Inception-ResNet-v2 towers, 3 M steps",
    "table 2": "Flickr Audio Caption Corpus, test: 1,000 pictures, 5,000 spoken captions",
}


def reported(row: str, way: str, depth: int) -> float | None:
    """Return the paper's R@``depth`` of a row, or None."""
    recalls = (TABLE_1 | TABLE_2).get(row)
    return recalls[way][DEPTHS.index(depth)] if recalls and depth in DEPTHS else None


def table_of(row: str) -> str | None:
    """Return the paper's table that has the row, or None."""
    return "table 1" if row in TABLE_1 else "table 2" if row in TABLE_2 else None
