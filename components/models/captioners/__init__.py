"""Captioning networks by name: the four of CC, and AoANet (PCV §5.4)."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # settings read the names, and must not load torch
    from components.models.captioners.interface import CaptionerConfig, CaptionNetwork

NETWORKS = {
    "rnn1x1": "components.models.captioners.recurrent:RecurrentCaptioner",
    "rnn8x8": "components.models.captioners.recurrent:RecurrentCaptioner",
    "t2t1x1": "components.models.captioners.transformer:TransformerCaptioner",
    "t2t8x8": "components.models.captioners.transformer:TransformerCaptioner",
    "aoanet": "components.models.captioners.aoanet:AoANet",
}
"""Network → class; a new captioner is one module here and one line.

1x1 reads one vector of the whole image; 8x8 and aoanet read one vector a grid cell.
"""


def build(config: CaptionerConfig) -> CaptionNetwork:
    """Return a new network, initialised from torch's generator; raise ValueError if the network name is unknown."""
    if config.network not in NETWORKS:
        raise ValueError(f"'{config.network}' is not a captioning network; choose one of {', '.join(NETWORKS)}")
    network: CaptionNetwork = resolve_name(NETWORKS[config.network])(config)
    return network
