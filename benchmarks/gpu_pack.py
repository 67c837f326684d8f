"""The pack of the GPU run: one file with Flickr8k's images made small, its captions as words, and EfficientNet-lite0's weights.

The machine of the GPU run has torch, numpy and Pillow, and gets this file alone beside the code. The pack is research data: it
stays outside of git.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from benchmarks.gpu_networks import flat_weights, whole_views
from components.core.errors import HearsightError
from components.metrics.tokens import tokenize
from components.models.encoders import ENCODERS, ImageEncoder
from components.models.vocabulary import END, PAD, SPECIAL, START, UNKNOWN

LIMIT = 55_000_000
"""Bytes of the pack: what the working tree may hold beside the code where a machine is lent for minutes."""
SIDE = 160
"""Side of the packed images, px."""
QUALITIES = tuple(range(90, 25, -5))
"""WebP's qualities, best first. WebP keeps the encoder's features better than JPEG of the same size."""
PER_IMAGE = 5
MIN_COUNT = 4
"""Words rarer than this in the training captions are unknown (CC §5.2)."""
CHECKED = 50
"""Images whose features the project's own network computes for the run's check."""
SPLITS = {"train": "Flickr_8k.trainImages.txt", "validation": "Flickr_8k.devImages.txt", "test": "Flickr_8k.testImages.txt"}
ENCODER = "efficientnet_lite0"
ENCODER_SIDE = ENCODERS[ENCODER].side


@dataclass(frozen=True)
class Pack:
    """What the run reads. Images are those of training, then of validation, then of test."""

    images: list[bytes]
    split: NDArray[np.int64]
    """n: index of each image's split in :data:`SPLITS`."""
    captions: list[list[str]]
    """n × 5, as written."""
    numbers: NDArray[np.int64]
    """n × 5 × T: START, words, END, PAD …; numbers from ``vocabulary`` on are words that the networks do not know."""
    words: list[str]
    """All words by number: special ones, the vocabulary, then unknown ones."""
    vocabulary: int
    """How many words the networks know."""
    weights: NDArray[np.float16]
    """Of :class:`benchmarks.gpu_networks.Lite0`."""
    expected: NDArray[np.float16]
    """At most CHECKED × 1280: mean vectors of the first images by the project's own network."""
    states: NDArray[np.float16]
    """Utterances × D: pooled states of a pretrained ear; 0 × 0 without."""
    spoken: NDArray[np.int64]
    """The image of each utterance."""

    def inputs(self, longest: int) -> NDArray[np.int64]:
        """Return captions cut to ``longest`` words, n × 5 × (longest + 2); words that the networks do not know are UNKNOWN."""
        known = np.where(self.numbers >= self.vocabulary, UNKNOWN, self.numbers)
        known = np.pad(known, ((0, 0), (0, 0), (0, max(0, longest + 2 - known.shape[2]))))[:, :, : longest + 2].copy()
        last = known[:, :, -1]
        last[last != PAD] = END
        return known

    def rows(self, split: str, most: int | None = None) -> NDArray[np.int64]:
        """Return the numbers of a split's images, at most the first ``most``."""
        return np.flatnonzero(self.split == list(SPLITS).index(split))[:most]


def write_pack(data: Path, out: Path, states: Path | None = None, side: int = SIDE, limit: int = LIMIT) -> dict[str, Any]:
    """Write the pack of a folder of Flickr8k (``images/``, ``Flickr8k.token.txt`` and the lists of splits); return its figures.

    Args:
        states: a file of numpy with ``states`` (utterances × D, any float) and ``images`` (the file name of each one's image).

    Raises:
        HearsightError: a file is missing, an image has no five captions, or all does not fit in ``limit`` bytes.
    """
    names, split = read_splits(data)
    captions = read_captions(data)
    incomplete = [name for name in names if len(captions.get(name, ())) != PER_IMAGE]
    if incomplete:
        raise HearsightError(f"{len(incomplete)} images have not {PER_IMAGE} captions, such as {incomplete[0]}", where=data)
    texts = [captions[name] for name in names]
    numbers, words, vocabulary = number_words(texts, training=split == 0)
    # Imported here: the machine of the run lacks the package of the weights.
    from components.vision.classifier import load_backbone
    from components.vision.folding import fold_batch_norms

    encoder = ImageEncoder(ENCODER, fold_batch_norms(load_backbone()))
    content: dict[str, NDArray[Any]] = {
        "split": split.astype(np.int8),
        "captions": _as_bytes("\n".join(text for of_image in texts for text in of_image)),
        "numbers": numbers.astype(np.uint16),
        "words": _as_bytes(json.dumps(words)),
        "vocabulary": np.array(vocabulary),
        "weights": flat_weights(encoder.network).astype(np.float16),
        **(_read_states(states, names) if states else {}),
    }
    room = limit - _size(content) - 2 * CHECKED * encoder.kind.features - 1000
    quality, encoded = fit_quality([data / "images" / name for name in names], side, room)
    with torch.inference_mode():
        pixels = whole_views(decode(encoded[:CHECKED]), ENCODER_SIDE)
        content["expected"] = torch.cat([encoder.encode(one[None])[:, 0] for one in pixels]).half().numpy()
    content["sizes"] = np.array([len(one) for one in encoded])
    content["images"] = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    size = _size(content, out)
    if size > limit:
        out.unlink()
        raise HearsightError(f"the pack has {size:,} bytes, more than {limit:,}", where=out, hint="lower --side")
    about = {"images": len(names), "side": side, "quality": quality, "words": vocabulary}
    return about | {"utterances": len(content.get("spoken", ())), "MB": size / 1e6}


def read_pack(path: Path) -> Pack:
    """Read a pack; raise HearsightError if there is none."""
    try:
        with np.load(path) as stored:
            found = {name: stored[name] for name in stored.files}
    except (OSError, ValueError) as error:
        hint = "make one with `python -m benchmarks.gpu_flickr8k pack`"
        raise HearsightError(f"is no pack ({error})", where=path, hint=hint) from error
    bounds = np.cumsum([0, *found["sizes"]])
    joined = found["images"].tobytes()
    texts = bytes(found["captions"]).decode().split("\n")
    return Pack(
        images=[joined[begin:end] for begin, end in pairwise(bounds)],
        split=found["split"].astype(np.int64),
        captions=[texts[at : at + PER_IMAGE] for at in range(0, len(texts), PER_IMAGE)],
        numbers=found["numbers"].astype(np.int64),
        words=json.loads(bytes(found["words"])),
        vocabulary=int(found["vocabulary"]),
        weights=found["weights"],
        expected=found["expected"],
        states=found.get("states", np.zeros((0, 0), np.float16)),
        spoken=found.get("spoken", np.zeros(0, np.int64)).astype(np.int64),
    )


def decode(images: Sequence[bytes], threads: int = 1) -> Tensor:
    """Return encoded images of one size as n × 3 × side × side, uint8. Pillow decodes without Python's lock."""
    with ThreadPoolExecutor(threads) as pool:
        pixels = np.stack(list(pool.map(_pixels, images)))
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous()


def read_splits(data: Path) -> tuple[list[str], NDArray[np.int64]]:
    """Return the images' names by split and each one's split; raise HearsightError for a missing list."""
    lists = [_lines(data / name) for name in SPLITS.values()]
    return [name for names in lists for name in names], np.repeat(np.arange(len(lists)), [len(names) for names in lists])


def read_captions(data: Path) -> dict[str, list[str]]:
    """Return the captions of each image of ``Flickr8k.token.txt``, in its order."""
    captions: dict[str, list[str]] = {}
    for line in _lines(data / "Flickr8k.token.txt"):
        name, _, caption = line.partition("\t")
        captions.setdefault(name.partition("#")[0], []).append(caption.strip())
    return captions


def number_words(captions: Sequence[Sequence[str]], training: NDArray[np.bool_]) -> tuple[NDArray[np.int64], list[str], int]:
    """Return numbers n × 5 × T, all words, and how many of them the networks know (``train_captioner``'s vocabulary)."""
    tokens = [[tokenize(caption) for caption in of_image] for of_image in captions]
    counted = Counter(chain.from_iterable(chain.from_iterable(compress(tokens, training))))
    known = sorted((word for word, count in counted.items() if count >= MIN_COUNT), key=lambda word: (-counted[word], word))
    others = sorted(set(chain.from_iterable(chain.from_iterable(tokens))) - set(known))
    words = [*SPECIAL, *known, *others]
    number = {word: at for at, word in enumerate(words)}
    most = max(len(one) for of_image in tokens for one in of_image)
    numbers = np.full((len(tokens), PER_IMAGE, most + 2), PAD)
    for image, of_image in enumerate(tokens):
        for place, one in enumerate(of_image):
            numbers[image, place, : len(one) + 2] = [START, *(number[word] for word in one), END]
    return numbers, words, len(SPECIAL) + len(known)


def fit_quality(paths: Sequence[Path], side: int, room: int) -> tuple[int, list[bytes]]:
    """Return the best quality at which all images fit in ``room`` bytes, and the images at that quality.

    Raises:
        HearsightError: they fit at none, or one cannot be read.
    """
    sample = paths[:: max(1, len(paths) // 100)]
    for quality in QUALITIES:
        encode = partial(_encoded, side=side, quality=quality)
        # A sample is off by 1 or 2 %.
        if sum(map(len, map(encode, sample))) / len(sample) * len(paths) > room * 1.02:
            continue
        encoded = list(map(encode, paths))
        if sum(map(len, encoded)) <= room:
            return quality, encoded
    what = f"{len(paths)} images of {side} px do not fit in {max(0, room):,} bytes"
    raise HearsightError(what, where="pack", hint="lower --side, or leave --states out")


def _encoded(path: Path, side: int, quality: int) -> bytes:
    try:
        with Image.open(path) as image:
            small = image.convert("RGB").resize((side, side), Image.Resampling.BICUBIC)
    except OSError as error:
        raise HearsightError(f"cannot be read as an image ({error})", where=path, hint="fetch the data set again") from error
    stream = io.BytesIO()
    small.save(stream, "WEBP", quality=quality, method=4)
    return stream.getvalue()


def _pixels(image: bytes) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(image)).convert("RGB"))


def _lines(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    except OSError as error:
        raise HearsightError(f"cannot be read ({error.strerror})", where=path, hint="name the folder of Flickr8k") from error


def _read_states(path: Path, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    number = {name: at for at, name in enumerate(names)}
    with np.load(path) as stored:
        image = np.array([number.get(str(name), -1) for name in stored["images"]])
        return {"states": stored["states"][image >= 0].astype(np.float16), "spoken": image[image >= 0]}


def _as_bytes(text: str) -> NDArray[np.uint8]:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def _size(content: Mapping[str, NDArray[Any]], path: Path | None = None) -> int:
    """Return the bytes of the arrays as a file, and write it if a path is given."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **content)
    if path:
        path.write_bytes(stream.getvalue())
    return stream.tell()
