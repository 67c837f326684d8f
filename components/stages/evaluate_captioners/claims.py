"""The papers' claims about captioning networks, as paired differences of CIDEr-D on one test set.

Two networks are compared image by image, after averaging the seeds of each; models are paired by the number of their seed
(:mod:`components.reporting.verdicts`). PCV trains AoANet alone, so the claim about it is ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from components.reporting.verdicts import Claim

TRANSFORMER_AND_LSTM = (("t2t1x1", "rnn1x1"), ("t2t8x8", "rnn8x8"))
GRID_AND_VECTOR = (("rnn8x8", "rnn1x1"), ("t2t8x8", "t2t1x1"))
BEST = "t2t8x8"
OTHERS = ("rnn1x1", "rnn8x8", "t2t1x1")
PCV = "aoanet"


@dataclass(frozen=True, kw_only=True)
class CaptionerClaim(Claim):
    """A claim that the first cell of each pair is better than the second."""

    pairs: tuple[tuple[str, str], ...] = ()
    """Cells, ``<training set>-<network>``."""


def applicable_claims(test: str, cells: Mapping[tuple[str, str], Sequence[str]]) -> list[CaptionerClaim]:
    """Return the claims about the networks that were trained on a test set's own dataset, and about other training sets.

    A claim about several pairs of networks is read on those that were measured; "the best" needs all.

    Args:
        cells: (training set, network) → models.
    """
    networks = [network for training, network in cells if training == test]
    table = "CC tables 5 to 7"
    claims = [
        _claim(test, networks, "A Transformer is better than an LSTM over the same features.", table, TRANSFORMER_AND_LSTM),
        _claim(
            test,
            networks,
            "The Transformer over the grid is the best network.",
            "CC, abstract and section 6",
            tuple((BEST, other) for other in OTHERS),
            every=True,
        ),
        _claim(test, networks, "A grid of 8 × 8 is better than one vector of the image.", table, GRID_AND_VECTOR),
    ]
    if PCV in networks:
        statement = "AoANet, the network of PCV table 2, is better than the networks of CC."
        claims.append(_claim(test, networks, statement, "ours", tuple((PCV, other) for other in (*OTHERS, BEST))))
    if pairs := tuple(_pairs_of_sets(test, cells)):
        statement = "A network trained on the test set's own captions is better than one trained on another set."
        claims.append(CaptionerClaim(says=statement, source="CC section 5.4, tables 5 and 7", pairs=pairs))
    return [claim for claim in claims if claim.pairs or claim.needs]


def _claim(
    test: str, networks: Sequence[str], says: str, source: str, pairs: Sequence[tuple[str, str]], *, every: bool = False
) -> CaptionerClaim:
    measured = [pair for pair in pairs if set(pair) <= set(networks)]
    missing = tuple(dict.fromkeys(name for pair in pairs for name in pair if name not in networks))
    if missing and (every or not measured):
        return CaptionerClaim(says=says, source=source, needs=missing)
    named = tuple((f"{test}-{one}", f"{test}-{other}") for one, other in measured)
    return CaptionerClaim(says=says, source=source, pairs=named)


def _pairs_of_sets(test: str, cells: Mapping[tuple[str, str], Sequence[str]]) -> Iterator[tuple[str, str]]:
    for training, network in cells:
        if training != test and (test, network) in cells:
            yield f"{test}-{network}", f"{training}-{network}"
