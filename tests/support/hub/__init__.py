"""Small models in the layout of a hub: transformers' own classes, random weights in safetensors, a tokenizer of some lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from transformers import (
    BlipConfig,
    BlipForConditionalGeneration,
    BlipImageProcessorPil,
    BlipProcessor,
    CLIPConfig,
    CLIPImageProcessorPil,
    CLIPModel,
    CLIPProcessor,
    PreTrainedTokenizerFast,
)

LINES = ["a red car on the road", "a dog runs on the grass", "two people stand on the beach", "a cat sleeps"]
SIDE = 32
LEARNED = 0.01
"""Loss of a token below which a captioner says what it learned, on any processor."""


def make_tokenizer(lines: list[str] | None = None, **more: Any) -> Any:
    """Return a byte-level tokenizer trained on ``lines``; ids: 0 pad, 1 unknown, 2 begin, 3 end."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<pad>", "<unk>", "<s>", "</s>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(special_tokens=special, vocab_size=400, initial_alphabet=alphabet)
    tokenizer.train_from_iterator((lines or LINES) * 5, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 2), ("</s>", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>", bos_token="<s>", eos_token="</s>", cls_token="<s>",
        sep_token="</s>", model_max_length=32, **more,
    )  # fmt: skip


VISION = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "image_size": SIDE,
    "patch_size": 8,
}
TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
    "bos_token_id": 2,
    "eos_token_id": 3,
    "pad_token_id": 0,
}


def make_clip(folder: Path, seed: int = 0) -> Path:
    """Write a CLIP of 16 dimensions that reads images of 32 px, and return its folder."""
    torch.manual_seed(seed)
    tokenizer = make_tokenizer()
    config = CLIPConfig(text_config=TEXT | {"vocab_size": len(tokenizer)}, vision_config=VISION, projection_dim=16)
    CLIPModel(config).save_pretrained(folder)
    images = CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    CLIPProcessor(images, tokenizer).save_pretrained(folder)
    return folder


def make_blip(folder: Path, seed: int = 0, says: str = "") -> Path:
    """Write a BLIP captioner that reads images of 32 px, and return its folder.

    Args:
        says: what it learned to say of every image; empty for random weights.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    tokenizer = make_tokenizer()
    text = TEXT | {"vocab_size": len(tokenizer), "encoder_hidden_size": 32, "sep_token_id": 3}
    model = BlipForConditionalGeneration(BlipConfig(text_config=text, vision_config=VISION, projection_dim=16))
    if says:
        words = tokenizer(says, return_tensors="pt").input_ids
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
        for _ in range(1000):
            pixels = torch.rand(2, 3, SIDE, SIDE)
            loss = model(pixel_values=pixels, input_ids=words.expand(2, -1), labels=words.expand(2, -1)).loss
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            if loss < LEARNED:
                break
        else:
            raise AssertionError("the captioner did not learn what it is to say")
    model.save_pretrained(folder)
    BlipProcessor(BlipImageProcessorPil(size={"height": SIDE, "width": SIDE}), tokenizer).save_pretrained(folder)
    return folder
