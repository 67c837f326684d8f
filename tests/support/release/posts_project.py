"""A project whose posts went the whole way: crawl with real images, describe, dedup, split, each with its lineage."""

from __future__ import annotations

import io
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.digests import sha256_bytes
from components.core.ledger import dropped, kept, ledger_table
from components.core.params import read_params_file
from components.core.records import CAPTION, OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.runner import write_lineage
from tests.support import PROJECT, make_stage, row
from tests.support.settings_files import write_settings

KEY = "correct horse battery staple"
OWNERS = ("maria.silva82", "@Foto_Clube", "joão@posts.sample", "http://posts.sample/@ze_ninguem")
CHAIN = ("crawl", "extract_descriptions", "dedup", "split")
SETTINGS: dict[str, dict[str, Any]] = {
    "crawl": {
        "source": {"kind": "posts", "provider": "mastodon", "tag": "pracegover", "accounts": ["maria.silva82"]},
        "web": {"kind": "sample"},
    },
    "extract_descriptions": {"min_words": 3},
    "dedup": {"signal": {"kind": "phash", "max_distance": 6}},
    "split": {"by": "owner", "seed": 1, "validation": 0.2, "test": 0.2, "sides": "posts"},
}
SPLIT_OF = dict(zip(OWNERS, ("train", "train", "validation", "test"), strict=True))
TEXTS = (
    "Bom dia! Siga @{me} #PraCegoVer {what} Veja também @outra.pessoa e instagram.com/{me}/ ou escreva a eu@exemplo.org.",
    "#PraCegoVer {what} Foto de {me}, http://posts.sample/@maria.silva82",
)


def drawn_image(number: int, kind: str = "JPEG", **info: Any) -> bytes:
    """A small image of noise, different for each number; ``info`` goes to Pillow's writer."""
    from PIL import Image

    draw = random.Random(number)
    image = Image.new("RGB", (24, 16))
    image.putdata([(draw.randrange(256), draw.randrange(256), number % 256) for _ in range(24 * 16)])
    out = io.BytesIO()
    image.save(out, kind, **info)
    return out.getvalue()


def with_author(number: int, author: str) -> bytes:
    """A JPEG whose EXIF names its author and whose comment does too, and that lies on its side."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x013B], exif[0x0112] = author, 6
    return drawn_image(number, exif=exif, comment=author.encode())


def posts(count: int = 24) -> list[dict[str, Any]]:
    """Records as the split writes them, with the image's bytes under ``data``."""
    made = []
    for number in range(count):
        owner = OWNERS[number % len(OWNERS)]
        data = with_author(number, owner) if number % 3 == 0 else drawn_image(number, "PNG" if number % 3 == 1 else "JPEG")
        what = f"Na foto número {number}, uma mulher idiota caminha na praia."
        me = owner.rpartition("/")[2].lstrip("@").partition("@")[0]
        made.append(
            {
                "key": f"{number:016x}", "owner": owner, "post": f"{owner}/{number}", "data": data,
                "page_url": f"http://posts.sample/@{me}/{number}", "host": "posts.sample",
                "image_url": f"http://posts.sample/media/{number}.jpg", "image_sha256": sha256_bytes(data),
                "alt": TEXTS[number % 2].format(me=me, what=what), "caption": what, "text": "raw", "language": "pt",
                "format": "PNG" if number % 3 == 1 else "JPEG", "split": SPLIT_OF[owner],
                "group": f"{number - number % 8 if number % 8 < 2 else number:016x}",
                "posted": f"2026-{number % 12 + 1:02d}-03T10:00:00Z" if number else "",
                "collected": "2026-11-21T00:00:00Z", "media": f"00000/{number}.bin",
                "width": 24 if number % 3 else 16, "height": 16 if number % 3 else 24,
            }
        )  # fmt: skip
    return made


def project(root: Path, records: Sequence[dict[str, Any]] | None = None, publisher: dict[str, str] | None = None) -> Path:
    """Write the project; each stage but the last also dropped something."""
    records = posts() if records is None else records
    root.mkdir(parents=True, exist_ok=True)
    # Until the chain has the stage: its record is CAPTION.
    OUTPUT_SCHEMAS.setdefault("extract_descriptions", ("CAPTION", CAPTION))
    shutil.copy(PROJECT / "dvc.yaml", root / "dvc.yaml")
    params = read_params_file(PROJECT / "params.yaml")
    for before, stage in zip(("", *CHAIN), CHAIN, strict=False):
        params["chain"].setdefault(stage, {})["posts"] = {"input": f"posts/{before}"} if before else {}
    if publisher:
        params["release"] = {"posts": publisher}
    write_settings(root, params)
    earlier: StageOutput | None = None
    lost = {"crawl": ("private", 3), "extract_descriptions": ("no_hashtag", 5), "dedup": ("duplicate_post", 7), "split": ("", 0)}
    for stage in CHAIN:
        job = make_stage(root, stage, "posts", inputs={"input": earlier} if earlier else {})
        names = OUTPUT_SCHEMAS[stage][1].names
        rows = [row(stage, **{name: value for name, value in record.items() if name in names}) for record in records]
        rule, number = lost[stage]
        # What a later stage drops is there before it.
        later = sum(lost[each][1] for each in CHAIN[CHAIN.index(stage) + 1 :])
        extra = [row(stage, key=f"{0xF000 + n:016x}", owner="gone") for n in range(later)]
        ledger = [kept(r["key"]) for r in rows + extra] + [dropped(f"{0xA000 + n:016x}", rule, 1, 2) for n in range(number)]
        table = pa.Table.from_pylist(rows + extra, schema=OUTPUT_SCHEMAS[stage][1])
        media = {f"{int(r['key'], 16)}.bin": r["data"] for r in records} if stage == "crawl" else None
        job.write_shard("00000", table, ledger_table(ledger), media)
        job.finish()
        write_lineage(job, SETTINGS[stage], "")
        earlier = StageOutput(job.out)
    return root
