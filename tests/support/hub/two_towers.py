"""More small models of a hub: SigLIP, a network without a text tower, and a recogniser of names whose labels are set by hand."""

from __future__ import annotations

import io
from pathlib import Path

import torch
from PIL import Image
from transformers import (
    BertConfig,
    BertForTokenClassification,
    BertTokenizer,
    SiglipConfig,
    SiglipImageProcessorPil,
    SiglipModel,
    SiglipProcessor,
    ViTConfig,
    ViTImageProcessorPil,
    ViTModel,
)

from tests.support.hub import SIDE, TEXT, VISION, make_tokenizer


def make_siglip(folder: Path, seed: int = 0) -> Path:
    """Write a SigLIP that reads images of 32 px and texts of 32 tokens, and return its folder."""
    torch.manual_seed(seed)
    tokenizer = make_tokenizer()
    text = TEXT | {"vocab_size": len(tokenizer), "max_position_embeddings": 32, "projection_size": 32}
    model = SiglipModel(SiglipConfig(text_config=text, vision_config=VISION))
    with torch.no_grad():
        model.logit_scale.fill_(1.5)
        model.logit_bias.fill_(-0.5)
    model.save_pretrained(folder)
    SiglipProcessor(SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE}), tokenizer).save_pretrained(folder)
    return folder


def make_vit(folder: Path) -> Path:
    """Write a network that reads images alone, and return its folder."""
    ViTModel(ViTConfig(**VISION)).save_pretrained(folder)
    ViTImageProcessorPil(size={"height": SIDE, "width": SIDE}).save_pretrained(folder)
    return folder


def make_recogniser(folder: Path, said: dict[str, str], labels: tuple[str, ...] = ()) -> Path:
    """Write a token-classification model that gives each known piece of a word its label, and return its folder.

    Args:
        said: piece ("Zqx", "##wv") → label; others are "O".
        labels: the model's labels; by default "O" and those of ``said``.
    """
    names = list(labels or dict.fromkeys(["O", *said.values()]))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *said]
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=0, num_attention_heads=1, intermediate_size=16,
        max_position_embeddings=64, id2label=dict(enumerate(names)), label2id={name: at for at, name in enumerate(names)},
    )  # fmt: skip
    model = BertForTokenClassification(config)
    with torch.no_grad():
        for weight in (model.bert.embeddings.position_embeddings, model.bert.embeddings.token_type_embeddings):
            weight.weight.zero_()
        table = torch.zeros(len(words), 16)
        for row, word in enumerate(words):
            table[row, names.index(said.get(word, names[0]))] = 1.0
        model.bert.embeddings.word_embeddings.weight.copy_(table)
        model.classifier.weight.copy_(4 * torch.eye(len(names), 16))
        model.classifier.bias.zero_()
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    BertTokenizer(vocab=str(folder / "vocab.txt"), do_lower_case=False, model_max_length=64).save_pretrained(folder)
    return folder


def drawn(*colour: int, side: int = 48) -> bytes:
    """Return a JPEG of one colour with a white corner."""
    image, out = Image.new("RGB", (side, side), colour), io.BytesIO()
    image.paste((255, 255, 255), (0, 0, side // 3, side // 3))
    image.save(out, "JPEG")
    return out.getvalue()
