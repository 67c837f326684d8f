"""Linear layers in oneDNN's own layout, for writing captions on a processor.

Torch multiplies single-precision matrices by MKL and leaves their layout to each call. oneDNN with weights laid out once
is more than twice as fast where MKL does not use the processor's widest instructions (those of another maker than
its own), and no slower elsewhere (``benchmarks/decoding.py``). Results differ by rounding.
"""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Network = TypeVar("Network", bound=nn.Module)


class Tied(nn.Module):
    """Scores of words by the matrix of their vectors, another module's: called with both.

    Args:
        name: the matrix's name, from the module that this one is part of.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        """… × width, V × width → … × V."""
        return F.linear(x, weight)


class _Packed(nn.Module):
    """A linear layer whose weight is in oneDNN's layout."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), None)
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        found: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")
        return found


def pack_linear_layers(network: Network) -> Network:
    """A network that computes the same with packed weights, without gradients; the one given is not changed.

    It holds the weights as they are now, and a second copy of linear layers' for as long as it is kept. On other devices,
    in other precisions and in builds of torch without oneDNN it is the network itself.
    """
    weights = list(network.parameters())
    fits = all(weight.device.type == "cpu" and weight.dtype == torch.float32 for weight in weights)
    if not weights or not fits or not torch.backends.mkldnn.is_available() or torch.is_autocast_enabled("cpu"):
        return network
    with torch.no_grad():
        return _walked(network)


def _walked(module: Network) -> Network:
    twin = copy.copy(module)
    twin._modules = {}
    for name, child in module._modules.items():
        if type(child) is nn.Linear:
            twin._modules[name] = _Packed(child.weight, child.bias)
        elif isinstance(child, Tied):
            twin._modules[name] = _Packed(module.get_parameter(child.name), None)
        else:
            twin._modules[name] = child if child is None else _walked(child)
    return twin
