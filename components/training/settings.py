"""Settings that everything trained shares: how it is optimised, and what it runs on."""

from __future__ import annotations

from typing import Any, Literal

from components.core.errors import HearsightError
from components.core.params import Settings


class Optimisation(Settings):
    """What every network needs to be trained."""

    epochs: int
    """Passes over the training items."""
    batch: int
    """Items a step, over all devices together."""
    optimiser: Literal["adam", "adamw", "adagrad"]
    """Adam, Adam with decoupled decay, or Adagrad as the captioners of CC."""
    learning_rate: float
    """At its highest."""
    warm_up_steps: int
    """Steps over which the learning rate rises to its highest."""
    decay_per_1000: float
    """Factor of the learning rate every 1000 steps, applied continuously."""
    weight_decay: float
    """L2 term (adamw: decoupled)."""
    clip_gradient: float
    """Largest norm of the gradient; 0 does not clip."""


class Hardware(Settings):
    """What a training runs on.

    Only what changes a result's bits belongs to a cache's key, and that is what :meth:`plain` gives: nothing for the reference
    (processor, one device, one thread, 32 bits, not compiled), so moving a project to a machine with more workers trains nothing
    again. Hand it to :meth:`components.execution.stage.Stage.jobs` as ``params``.
    """

    accelerator: Literal["auto", "cpu", "gpu"]
    """The processor, a GPU, or a GPU where there is one."""
    devices: int
    """Devices (cpu: processes) of each node; they share each batch among them."""
    nodes: int
    """Machines; more than one are started by torchrun or SLURM (docs/training.md)."""
    strategy: Literal["ddp"]
    """How several devices work together: each holds the whole network, gradients are averaged."""
    precision: Literal["32", "bf16"]
    """Single precision, or bfloat16 where that is safe (weights stay in single precision)."""
    compile: bool
    """Let torch compile the network: slower to begin, faster afterwards."""
    channels_last: bool
    """Keep pictures and convolutions with the channels last: faster on GPUs, slower on processors."""
    threads: int
    """Threads of the processor each device's process computes with."""
    workers: int
    """Processes each device's process reads ahead with; 0 reads between the steps."""
    checkpoint_steps: int
    """Steps from one checkpoint inside an epoch to the next; 0 writes one at each epoch's end alone."""

    @property
    def world(self) -> int:
        """Devices of all nodes."""
        return self.devices * self.nodes

    def device(self) -> Literal["cpu", "gpu"]:
        """What ``accelerator`` comes to on this machine.

        Raises:
            HearsightError: a GPU is asked for and there is none.
        """
        if self.accelerator == "cpu":
            return "cpu"
        import torch

        # device_count asks the driver's library; is_available would begin CUDA, which no forked process could use then.
        if torch.cuda.device_count():
            return "gpu"
        if self.accelerator == "gpu":
            raise HearsightError("this machine has no GPU that torch can use", where="accelerator", hint="set it to cpu or auto")
        return "cpu"

    def plain(self) -> dict[str, Any]:
        """What changes a result's bits and differs from the reference; two machines with equal answers share their results.

        ``world`` counts, for sums of gradients are formed in another order; how it is split among nodes does not. ``workers`` and
        ``checkpoint_steps`` change nothing: draws are keyed by the record, and a resumed run is exact.
        """
        facts: dict[str, Any] = {"device": self.device(), "world": self.world, "precision": self.precision}
        facts |= {"compile": self.compile, "channels_last": self.channels_last, "threads": self.threads}
        reference = {"device": "cpu", "world": 1, "precision": "32", "compile": False, "channels_last": False, "threads": 1}
        return {name: value for name, value in facts.items() if value != reference[name]}


REFERENCE = Hardware(
    accelerator="cpu",
    devices=1,
    nodes=1,
    strategy="ddp",
    precision="32",
    compile=False,
    channels_last=False,
    threads=1,
    workers=0,
    checkpoint_steps=0,
)
"""One thread of the processor: the same bits on every run of one platform."""
