"""Settings shared by all training: optimisation and hardware; and the hardware of inference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from components.core.params import Amount, NotNegative, Positive, Settings
from components.execution.resources import Accelerator, Device, Resources, choose_device

if TYPE_CHECKING:
    from components.execution.engine import Engine


class Optimisation(Settings):
    """What every network needs to be trained; the defaults are those of dual encoders (CSC §4.1)."""

    epochs: Positive = 43
    """Passes over the training items. CSC §4.2: 3 M steps of 48, which are 43 passes over 3.3 M captions."""
    batch: int = 48
    """Items a step, over all devices together. CSC §4.2: 48."""
    optimiser: Literal["adam", "adamw", "adagrad"] = "adam"
    """Adam, Adam with decoupled decay, or Adagrad. CSC §4.1: adam."""
    learning_rate: Amount = 0.001
    """Peak learning rate. CSC §4.1: .001."""
    warm_up_steps: NotNegative = 0
    """Steps over which the learning rate rises to its highest. No paper names a warm-up."""
    decay_per_1000: float = 0.999
    """Factor of the learning rate every 1000 steps, applied continuously. CSC §4.1: .999."""
    weight_decay: Amount = 0.00004
    """L2 term (adamw: decoupled). CSC §4.1: 4e-5."""
    clip_gradient: Amount = 0.0
    """Largest norm of the gradient; 0 does not clip. No paper names a limit."""
    ema: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Decay of an exponential moving average of the weights (Polyak and Juditsky 1992), which is then validated and kept in their
    place; .999 is usual, 0 is off. No paper names one."""


class DeviceSettings(Settings):
    """Settings common to training and inference."""

    accelerator: Accelerator = "cpu"
    """The processor, a GPU, or a GPU where there is one. Ours."""
    precision: Literal["32", "bf16"] = "32"
    """Single precision, or bfloat16 where that is safe (weights stay in single precision). Ours."""
    workers: NotNegative = 0
    """Data loading processes per device; 0: batches are loaded in the process that computes. Ours."""

    def device(self) -> Device:
        """What ``accelerator`` comes to on this machine; raise HearsightError if a GPU is asked for and there is none."""
        return choose_device(self.accelerator)

    def resources(self, engine: Engine) -> Resources:
        """Return what one job needs of the engine: a GPU if it computes on one."""
        return Resources(gpus=int(engine.device(self.accelerator) == "gpu"))


class Hardware(DeviceSettings):
    """What a training runs on.

    Only what changes a result's bits belongs to a cache's key, and that is what :meth:`plain` gives: nothing for the reference
    (processor, one device, one thread, 32 bits, not compiled), so moving a project to a machine with more workers trains nothing
    again. Hand it to :meth:`components.execution.stage.Stage.jobs` as ``params``.
    """

    devices: Positive = 1
    """Devices (cpu: processes) of each node; each holds the whole network, and they share each batch (DDP). Ours."""
    nodes: Positive = 1
    """Machines; more than one need ``engine: {kind: ray}`` (docs/cluster.md). Ours."""
    compile: bool = False
    """Let torch compile the network: slower to begin, faster afterwards. Ours."""
    channels_last: bool = False
    """Keep images and convolutions with the channels last: faster on GPUs, slower on processors. Ours."""
    threads: Positive = 1
    """CPU threads per device process. Ours."""
    checkpoint_steps: int = 0
    """Steps from one checkpoint inside an epoch to the next; 0 writes one at each epoch's end alone. Ours."""

    @property
    def world(self) -> int:
        """Devices of all nodes."""
        return self.devices * self.nodes

    def resources(self, engine: Engine) -> Resources:
        """Return what one training needs of the engine: a GPU for each device if it computes on GPUs, and the threads' cores."""
        gpus = self.devices if engine.device(self.accelerator) == "gpu" else 0
        return Resources(gpus, cpus=self.devices * self.threads, nodes=self.nodes, processes=self.devices)

    def plain(self) -> dict[str, Any]:
        """Return the settings that affect a result's bits and differ from the reference, as part of cache keys.

        ``world`` counts, for sums of gradients are formed in another order; how it is split among nodes does not. ``workers`` and
        ``checkpoint_steps`` change nothing: draws are keyed by the record, and a resumed run is exact.
        """
        facts: dict[str, Any] = {"device": self.device(), "world": self.world, "precision": self.precision}
        facts |= {"compile": self.compile, "channels_last": self.channels_last, "threads": self.threads}
        reference = {"device": "cpu", "world": 1, "precision": "32", "compile": False, "channels_last": False, "threads": 1}
        return {name: value for name, value in facts.items() if value != reference[name]}


REFERENCE = Hardware()
"""One thread of the processor: the same bits on every run of one platform."""


class Inference(DeviceSettings):
    """What a stage computes with trained networks on: one processor thread, or one GPU, in batches.

    As of :class:`Hardware`, :meth:`plain` gives what changes a result's bits.
    """

    batch: NotNegative = 0
    """Items computed together; 0: 64 on a GPU, on a processor as many as are fastest for the network. Ours."""

    def plain(self) -> dict[str, Any]:
        """Return the settings that affect a result's bits and differ from the reference, as part of cache keys.

        A batch's size does, by rounding; the default size on a GPU is part of the code.
        """
        facts: dict[str, Any] = {"device": self.device(), "precision": self.precision, "batch": self.batch}
        reference = {"device": "cpu", "precision": "32", "batch": 0}
        return {name: value for name, value in facts.items() if value != reference[name]}


PLAIN_INFERENCE = Inference()
"""The reference."""
