"""A frozen network made faster: batch normalisations folded into the convolutions before them.

Not in scope: networks that are trained, whose normalisations follow their batches.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


def fold(network: nn.Module) -> nn.Module:
    """Change ``network`` in place, so that a processor takes less time for a picture (``benchmarks/folding.py``); returns it.

    Each ``BatchNorm2d`` that is registered right after a ``Conv2d`` of the same module becomes part of it, equal padding around a
    picture becomes the convolution's own, and weights lie channels last. Results differ by rounding alone.

    Raises:
        ValueError: ``network`` is in training mode.
    """
    if network.training:
        raise ValueError("a network in training mode cannot be folded: its normalisations follow its batches")
    for module in list(network.modules()):
        children = list(module.named_children())
        for (name, convolution), (following, normalisation) in pairwise(children):
            if isinstance(convolution, nn.Conv2d) and isinstance(normalisation, nn.BatchNorm2d):
                folded = fuse_conv_bn_eval(convolution, normalisation)
                _pad_itself(folded)
                setattr(module, name, folded)
                setattr(module, following, nn.Identity())
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return network


def _pad_itself(convolution: nn.Conv2d) -> None:
    """Let a convolution pad, where efficientnet_lite_pytorch pads in a step of its own and equally on all sides."""
    padding = getattr(convolution, "static_padding", None)
    if isinstance(padding, nn.ZeroPad2d) and len(set(padding.padding)) == 1:
        convolution.padding = (padding.padding[0], padding.padding[0])
        convolution.static_padding = nn.Identity()
