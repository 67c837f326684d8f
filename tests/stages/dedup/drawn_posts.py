"""Posts as people repeat them, in any number: captions of a language's words, image features with the spread of real ones.

Of all posts 45 % repeat another (PCV: 44.9 %): most of these the same image, altered a little or a lot, with the same
caption, one to three words of it changed, or another caption; some say the very same words of another image, as series do.
Everything is drawn by the seed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH = 1280
OPENINGS = ("imagem de", "fotografia de", "na imagem vemos", "card com fundo", "descrição da imagem foto de", "arte gráfica com")


@dataclass(frozen=True)
class Posts:
    """Captions, and each post's image as a row of ``features`` (float16, as the annotator gives them)."""

    captions: list[str]
    features: NDArray[np.float16]
    shows: list[int]
    """Which post first showed each post's image; itself when it did."""


def make_posts(count: int, seed: int = 1) -> Posts:
    """``count`` posts."""
    import numpy as np
    from wordfreq import get_frequency_dict

    source = np.random.default_rng(seed)
    known = sorted(get_frequency_dict("pt").items(), key=lambda item: (-item[1], item[0]))[:60_000]
    words = np.array([word for word, _ in known])
    chances = np.array([share for _, share in known])
    chances /= chances.sum()

    def caption() -> list[str]:
        length = int(np.clip(source.lognormal(3.4, 0.6), 4, 200))
        return [*OPENINGS[source.integers(len(OPENINGS))].split(), *source.choice(words, length, p=chances)]

    # Features of real images are positive, sparse, and share a mean: unrelated ones are at cosines about .2 to .6 here.
    subjects = source.gamma(0.3, 1.0, (40, WIDTH)).astype(np.float32)

    def image() -> NDArray[np.float32]:
        return 0.5 * subjects[source.integers(len(subjects))] + source.gamma(0.3, 1.0, WIDTH).astype(np.float32)

    captions: list[list[str]] = []
    shows: list[int] = []
    features = np.empty((count, WIDTH), np.float32)
    for number in range(count):
        if number == 0 or source.random() > 0.449:
            captions.append(caption())
            shows.append(number)
            features[number] = image()
            continue
        # A few posts are repeated often, as campaigns are.
        origin = int(number * source.random() ** (3 if source.random() < 0.2 else 1))
        kind = source.random()
        same = captions[origin]
        if kind < 0.45:
            captions.append(same)
        elif kind < 0.75:
            changed = list(same)
            for place in source.integers(0, len(changed), source.integers(1, 4)):
                changed[place] = str(source.choice(words, p=chances))
            captions.append(changed)
        elif kind < 0.9:
            captions.append(caption())
        else:
            captions.append(same)
            shows.append(number)
            features[number] = image()
            continue
        shows.append(shows[origin])
        blur = source.choice((0.0, 0.1, 0.3, 0.6)) * source.random()
        features[number] = np.maximum(features[origin] * (1 + blur * source.standard_normal(WIDTH)), 0)
    return Posts([" ".join(line) for line in captions], features.astype(np.float16), shows)
