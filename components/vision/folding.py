"""Speeds up frozen networks by folding batch normalisations into the convolutions before them."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


def fold_batch_norms(network: nn.Module) -> nn.Module:
    """Fold ``network`` in place for faster inference on a processor (``benchmarks/README.md``), and return it.

    Each ``BatchNorm2d`` registered right after a ``Conv2d`` of the same module is merged into it, symmetric padding layers become
    the convolution's padding, and weights are stored channels last. Results differ only by rounding.

    Raises:
        ValueError: ``network`` is in training mode.
    """
    if network.training:
        raise ValueError("a network in training mode cannot be folded: call eval() first")
    for module in list(network.modules()):
        children = list(module.named_children())
        for (name, convolution), (following, normalisation) in pairwise(children):
            if isinstance(convolution, nn.Conv2d) and isinstance(normalisation, nn.BatchNorm2d):
                folded = fuse_conv_bn_eval(convolution, normalisation)
                _merge_padding(folded)
                setattr(module, name, folded)
                setattr(module, following, nn.Identity())
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return network


def _merge_padding(convolution: nn.Conv2d) -> None:
    """Replace efficientnet_lite_pytorch's separate symmetric padding by the convolution's own."""
    padding = getattr(convolution, "static_padding", None)
    if isinstance(padding, nn.ZeroPad2d) and len(set(padding.padding)) == 1:
        convolution.padding = (padding.padding[0], padding.padding[0])
        convolution.static_padding = nn.Identity()
