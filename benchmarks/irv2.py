"""Inception-ResNet-v2 beside timm's, stage by stage: ``python -m benchmarks.irv2``.

Both networks have the same weights and run in one process with one torch, on drawn pixels, in training and in evaluation: the
greatest difference of each stage, of the logits, and in training of all gradients and of the running statistics.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.harness import PEERS, WORK, show
from benchmarks.peers.timm.network import build
from components.models.inception_resnet_v2 import STAGES, InceptionResnetV2
from components.models.weights import load_weights

SIDE, CLASSES = 299, 1000


def packages() -> str:
    """The folder of the peer's packages, made from its requirements the first time."""
    folder = WORK / "environments" / "timm"
    wanted, stamp = PEERS / "timm" / "requirements.txt", folder / "requirements.txt"
    if not stamp.exists() or stamp.read_bytes() != wanted.read_bytes():
        print("making the environment of timm", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--target", folder, "-r", wanted]
        subprocess.run([str(word) for word in pip], check=True)
        shutil.copy(wanted, stamp)
    return str(folder)


def both(classes: int = CLASSES) -> dict[str, nn.Module]:
    """Ours, filled from a file of timm's weights, and timm's."""
    torch.manual_seed(0)
    theirs: nn.Module = build(packages(), classes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "timm.safetensors"
        save_file(theirs.state_dict(), path)
        ours = load_weights(InceptionResnetV2(classes), path)
    return {"ours": ours, "timm": theirs}


def check(batch: int, side: int) -> None:
    """Print, for each mode, the greatest difference of each stage, of the logits, and in training of what a step leaves."""
    networks = both()
    pixels, labels = torch.randn(batch, 3, side, side), torch.arange(batch)
    for mode in ("train", "eval"):  # In this order: evaluation then has running statistics that are not 0 and 1.
        given: dict[str, dict[str, Tensor]] = {"ours": {}, "timm": {}}
        for name, network in networks.items():
            network.train(mode == "train").zero_grad()
            hooks = [
                getattr(network, stage).register_forward_hook(
                    lambda _module, _inputs, out, stage=stage, found=given[name]: found.update({stage: out.detach().clone()})
                )
                for stage in STAGES
            ]
            with torch.set_grad_enabled(mode == "train"):
                logits = network(pixels)
            given[name]["logits"] = logits.detach()
            for hook in hooks:
                hook.remove()
            if mode == "train":
                F.cross_entropy(logits, labels).backward()
                given[name] |= {f"gradient of {key}": value.grad for key, value in network.named_parameters()}
                given[name] |= {f"buffer {key}": value for key, value in network.named_buffers()}
        ours, theirs = given["ours"], given["timm"]
        assert list(ours) == list(theirs), "the two do not name the same"
        off = {key: (ours[key].double() - theirs[key].double()).abs().max().item() for key in ours}
        kinds = {"gradients": "gradient of ", "running statistics": "buffer "}
        line: dict[str, Any] = {"mode": mode, "input": list(pixels.shape)}
        line["stages"] = {key: off[key] for key in (*STAGES, "logits")}
        line["largest value"] = {key: round(ours[key].abs().max().item(), 3) for key in ("conv2d_7b", "logits")}
        for kind, prefix in kinds.items() if mode == "train" else ():
            line[kind] = max(value for key, value in off.items() if key.startswith(prefix))
        show(line)


def main() -> None:
    """Print a line a mode."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=4, help="images")
    parser.add_argument("--side", type=int, default=SIDE, help="px")
    options = parser.parse_args()
    torch.set_num_threads(1)
    check(options.batch, options.side)


if __name__ == "__main__":
    main()
