"""Linear layers in oneDNN's own layout, for faster decoding on a CPU.

Torch multiplies float32 matrices by MKL and leaves their layout to each call. oneDNN with weights packed once is more than twice
as fast where MKL does not use the CPU's widest instructions (other vendors' CPUs), and never slower (``benchmarks/README.md``).
Results differ by rounding.
"""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Network = TypeVar("Network", bound=nn.Module)


class Tied(nn.Module):
    """Scores of words by the matrix of their vectors, which belongs to another module and is passed in each call.

    Args:
        name: the matrix's name, relative to the module that contains this one.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        """Map … × width and V × width to … × V."""
        return F.linear(x, weight)


class _Packed(nn.Module):
    """A linear layer whose weight has oneDNN's layout."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__()
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), None)
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        output: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")
        return output


def pack_linear_layers(network: Network) -> Network:
    """Return a network with packed weights that computes the same, without gradients; the given one is not changed.

    It has the current weights, and a second copy of the linear layers' in memory. On other devices, for other dtypes and in
    builds of torch without oneDNN, the network itself is returned.
    """
    weights = list(network.parameters())
    is_float32_on_cpu = all(weight.device.type == "cpu" and weight.dtype == torch.float32 for weight in weights)
    if not weights or not is_float32_on_cpu or not torch.backends.mkldnn.is_available() or torch.is_autocast_enabled("cpu"):
        return network
    with torch.no_grad():
        return _pack_children(network)


def _pack_children(module: Network) -> Network:
    """Return a shallow copy of the module whose linear layers are packed, recursively."""
    twin = copy.copy(module)
    twin._modules = {}
    for name, child in module._modules.items():
        if type(child) is nn.Linear:
            twin._modules[name] = _Packed(child.weight, child.bias)
        elif isinstance(child, Tied):
            twin._modules[name] = _Packed(module.get_parameter(child.name), None)
        else:
            twin._modules[name] = child if child is None else _pack_children(child)
    return twin
