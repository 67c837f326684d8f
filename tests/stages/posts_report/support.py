"""Outputs of earlier stages for a small Portuguese set: posts, duplicates, malformed and withdrawn posts, clusters."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from PIL import Image

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.stages.posts_report import Params
from tests.support import make_stage, row

PARAMS = Params(
    language="pt", seed=1, sheets=2, sheet=6, topics=2, topic_words=10, min_documents=2, min_together=2, min_group=2, bias_words=4
)
SAID = (
    "Uma mulher negra na marcha contra o racismo.",
    "Uma mulher negra segura um cartaz contra o racismo.",
    "Um homem branco no teatro.",
    "Um homem branco sentado no teatro, ao lado de um cachorro.",
    "Um cachorro preto corre na praia.",
    "Um cachorro e um gato na praia, perto do mar.",
)


def key(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def drawn_image(number: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 20 + number), (number * 20 % 256, 90, 160)).save(buffer, "PNG")
    return buffer.getvalue()


def write(root: Path, name: str, schema: str, rows: list[dict], ledger: list[dict[str, str]], **parts: Any) -> StageOutput:
    """``data/portuguese/<name>`` with these rows and this ledger; ``media`` and ``files`` beside them."""
    job = make_stage(root, schema, "portuguese")
    table = pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS[schema][1])
    job.write_shard("00000", table, ledger_table(ledger), parts.get("media"))
    for path, data in parts.get("files", {}).items():
        job.write_file(path, data)
    job.finish()
    return StageOutput(job.out.rename(job.out.parent / name) if name != schema else job.out)


def inputs(root: Path, posts: int = 12, *, clusters: tuple[int, ...] = (0, 1, -1), totals: bytes = b"") -> dict[str, StageOutput]:
    """Return the inputs: every sixth description repeats as a duplicate, one is malformed, one account turned private."""
    crawled, described, left, verdicts = [], [], [], []
    media: dict[str, bytes] = {}
    for number in range(posts):
        data = drawn_image(number)
        media[f"{number}.png"] = data
        values = {
            "key": key(f"post {number}"), "caption": SAID[number % len(SAID)], "owner": f"owner {number % 3}",
            "posted": f"2023-0{1 + number % 9}-11T10:00:00+00:00" if number else "", "collected": "2024-02-03T00:00:00+00:00",
            "media": f"00000/{number}.png", "group": key(f"post {number % len(SAID)}"),
            "split": ("train", "validation", "test")[number % 3],
        }  # fmt: skip
        crawled.append(row("crawl", **{k: v for k, v in values.items() if k in OUTPUT_SCHEMAS["crawl"][1].names}))
        if number == 4:
            continue
        described.append(row("hypernymize", **{k: v for k, v in values.items() if k in OUTPUT_SCHEMAS["hypernymize"][1].names}))
        again, group = number >= len(SAID) and number % len(SAID) != 4, f"group {values['group']}"
        if again:
            verdicts.append(
                dropped(values["key"], "duplicate_post", "image 0", "image .1", detail=f"same as {values['group']}; {group}")
            )
        else:
            verdicts.append(kept(values["key"], detail=group))
            left.append(row("split", **values))
    entered = [kept(r["key"]) for r in crawled]
    if posts:
        entered += [
            dropped(key("private"), "account_private", "locked", "public"),
            dropped(key("film"), "video", "video", "an image"),
        ]
        entered.append(dropped("http://posts.sample/9", "no_tag", "", "a tag", kind="page"))
    stays = {r["key"] for r in described}
    result = [kept(c["key"]) if c["key"] in stays else dropped(c["key"], "no_mark", "", "a mark") for c in crawled]
    placed = [
        {"key": r["key"], "cluster": (at := clusters[n % len(clusters)]), "round": int(at >= 0), "x": float(n), "y": float(n % 4)}
        for n, r in enumerate(described)
    ]
    outliers = sum(p["cluster"] < 0 for p in placed)
    summary = {
        "posts": len(placed), "components": 5, "dimensions": 3, "dimensions_asked": 3, "neighbours": 4, "neighbours_asked": 15,
        "clusters": len({p["cluster"] for p in placed} - {-1}), "outliers": outliers,
        "rounds": [{"entered": len(placed), "clusters": 2, "outliers": outliers}],
    }  # fmt: skip
    return {
        "crawl": write(root, "crawl", "crawl", crawled, entered, media=media, files={"tag_totals.csv": totals} if totals else {}),
        "extract_descriptions": write(root, "extract_descriptions", "hypernymize", described, result),
        "dedup": write(root, "dedup", "dedup", [{k: r[k] for k in OUTPUT_SCHEMAS["dedup"][1].names} for r in left], verdicts),
        "input": write(root, "split", "split", left, [kept(r["key"]) for r in left]),
        "cluster": write(
            root,
            "cluster",
            "cluster",
            placed,
            [kept(p["key"]) for p in placed],
            files={"clusters.json": json.dumps(summary).encode()},
        ),
    }
