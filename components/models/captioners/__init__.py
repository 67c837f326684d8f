"""The captioning networks, chosen by name: CC's four, and AoANet (PCV, section 5.4)."""

from __future__ import annotations

from pkgutil import resolve_name

from components.models.captioners.interface import CaptionerConfig, CaptionNetwork

_WHERE = {
    "rnn1x1": "components.models.captioners.recurrent:RecurrentCaptioner",
    "rnn8x8": "components.models.captioners.recurrent:RecurrentCaptioner",
    "t2t1x1": "components.models.captioners.transformer:TransformerCaptioner",
    "t2t8x8": "components.models.captioners.transformer:TransformerCaptioner",
    "aoanet": "components.models.captioners.aoanet:AoANet",
}
NETWORKS = tuple(_WHERE)
"""Every network's name. 1x1: one vector of the whole picture; 8x8 and aoanet: a vector for each cell of its grid."""


def build(config: CaptionerConfig) -> CaptionNetwork:
    """A new network with the weights that torch's generator gives.

    Raises:
        ValueError: there is no network of that name.
    """
    if config.network not in _WHERE:
        raise ValueError(f"'{config.network}' is no captioning network; there are {', '.join(NETWORKS)}")
    network: CaptionNetwork = resolve_name(_WHERE[config.network])(config)
    return network
