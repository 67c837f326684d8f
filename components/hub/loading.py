"""Loading of a hub's models with transformers: safetensors only, without code of theirs, without the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.execution.resources import Device, forbid_tf32

if TYPE_CHECKING:
    from components.hub.model import HubFolder


def load_model(found: HubFolder, auto: str, device: Device = "cpu") -> Any:
    """Return a model in evaluation mode, float32, without gradients.

    Args:
        auto: name of transformers' class, as ``AutoModel``.

    Raises:
        HearsightError: its files are damaged, of another kind of model, or want code of their own to run.
    """
    import torch  # here: slow to load

    if device == "gpu":
        forbid_tf32()
    # Half precision on a processor is slow, and the saved type differs from model to model.
    model, report = _load(found, auto, use_safetensors=True, dtype=torch.float32, output_loading_info=True)
    # Weights that a file lacks are drawn at random. Nothing here reads the pooler of a model of tokens or patches.
    if lost := sorted(name for name in report["missing_keys"] if not name.startswith("pooler.")):
        hint = "name a model that was trained for this use, not a part or a relative of one (docs/providers.md)"
        raise HearsightError(f"lacks {len(lost)} weights of {type(model).__name__}, e.g. {lost[0]}", where=found.name, hint=hint)
    return model.eval().requires_grad_(False).to("cuda" if device == "gpu" else "cpu")


def load_part(found: HubFolder, auto: str) -> Any:
    """Return a tokenizer, a processor or a configuration; errors as in :func:`load_model`."""
    return _load(found, auto)


def _load(found: HubFolder, auto: str, **more: Any) -> Any:
    # Imported on use: an optional extra, slow to load.
    import transformers
    from safetensors import SafetensorError

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        return getattr(transformers, auto).from_pretrained(found.folder, trust_remote_code=False, local_files_only=True, **more)
    except (OSError, ValueError, KeyError, AttributeError, ImportError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())[:200]
        hint = "name a model for this use whose code is in transformers, with undamaged files (docs/providers.md)"
        raise HearsightError(f"cannot be loaded as {auto} ({reason})", where=found.name, hint=hint) from error
