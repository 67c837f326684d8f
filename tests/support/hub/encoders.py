"""Small encoders of images and of speech in the layout of a hub, with random weights; images have 32 px, sounds 16 kHz."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.support.hub import SIDE, VISION, make_clip

SMALL: dict[str, Any] = dict(VISION)
SQUARE = {"height": SIDE, "width": SIDE}


def make_vit(folder: Path, seed: int = 0) -> Path:
    """Write a ViT; its pooler differs from the class token."""
    torch.manual_seed(seed)
    transformers.ViTModel(transformers.ViTConfig(**SMALL)).save_pretrained(folder)
    transformers.ViTImageProcessorPil(size=SQUARE).save_pretrained(folder)
    return folder


def make_dinov2(folder: Path, seed: int = 0) -> Path:
    """Write a DINOv2 with four registers that was configured for twice the side that it is given."""
    torch.manual_seed(seed)
    config = transformers.Dinov2WithRegistersConfig(**SMALL | {"image_size": 2 * SIDE})
    transformers.Dinov2WithRegistersModel(config).save_pretrained(folder)
    transformers.BitImageProcessorPil(size={"shortest_edge": SIDE + 4}, crop_size=SQUARE).save_pretrained(folder)
    return folder


def make_siglip(folder: Path, seed: int = 0) -> Path:
    """Write a SigLIP, both towers; its images have no class token."""
    torch.manual_seed(seed)
    text = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 40}
    config = transformers.SiglipConfig(text_config=text, vision_config=VISION)
    transformers.SiglipModel(config).save_pretrained(folder)
    transformers.SiglipImageProcessorPil(size=SQUARE, image_mean=[0.5] * 3, image_std=[0.5] * 3).save_pretrained(folder)
    return folder


def make_convnext(folder: Path, seed: int = 0) -> Path:
    """Write a ConvNeXt, whose feature map has a thirty-second of an image's side."""
    torch.manual_seed(seed)
    config = transformers.ConvNextConfig(hidden_sizes=[8, 16, 24, 32], depths=[1] * 4, image_size=2 * SIDE)
    transformers.ConvNextModel(config).save_pretrained(folder)
    of_imagenet: Any = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
    transformers.ConvNextImageProcessorPil(size={"shortest_edge": 2 * SIDE}, **of_imagenet).save_pretrained(folder)
    return folder


IMAGE_ENCODERS: dict[str, Callable[[Path], Path]] = {
    "clip": make_clip,
    "convnext": make_convnext,
    "dinov2": make_dinov2,
    "siglip": make_siglip,
    "vit": make_vit,
}


def make_whisper(folder: Path, seed: int = 0, mels: int = 80) -> Path:
    """Write a Whisper of 24 numbers a state."""
    torch.manual_seed(seed)
    config = transformers.WhisperConfig(
        d_model=24, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=32, decoder_ffn_dim=32, vocab_size=64, num_mel_bins=mels, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        decoder_start_token_id=1, suppress_tokens=None, begin_suppress_tokens=None,
    )  # fmt: skip
    transformers.WhisperModel(config).save_pretrained(folder)
    transformers.WhisperFeatureExtractor(feature_size=mels).save_pretrained(folder)
    return folder


def make_hubert(folder: Path, seed: int = 0) -> Path:
    """Write a HuBERT of 20 numbers a state, whose waveforms are normalised."""
    torch.manual_seed(seed)
    config = transformers.HubertConfig(
        hidden_size=20, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, conv_dim=(16,) * 7,
        num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=2,
    )  # fmt: skip
    transformers.HubertModel(config).save_pretrained(folder)
    transformers.Wav2Vec2FeatureExtractor(do_normalize=True).save_pretrained(folder)
    return folder
