"""A hub's captioner writes what transformers' own generation gives, whatever its kind, with the probability of these words."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    CLIPImageProcessorPil,
    Florence2Config,
    Florence2ForConditionalGeneration,
    Florence2Processor,
    GitConfig,
    GitForCausalLM,
    GitProcessor,
)

from components.hub.model import find_model
from components.model_server.client import Question
from components.model_server.prompts import load_prompt
from components.vision.hub_captioner import CHAT_PROMPT, HubCaptioner
from tests.support.describe.world import drawn_image
from tests.support.hub import SIDE, TEXT, VISION, make_blip, make_tokenizer
from tests.support.model_server.served_models import make_vision_model

IMAGE = drawn_image("red", size=(48, 40))


def clip_images(**more: Any) -> Any:
    return CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE}, **more)


def make_git(folder: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = make_tokenizer()
    GitForCausalLM(GitConfig(vision_config=VISION, vocab_size=len(tokenizer), **TEXT)).save_pretrained(folder)
    GitProcessor(clip_images(), tokenizer).save_pretrained(folder)
    return folder


def make_chat(folder: Path) -> Path:
    prompt = load_prompt("describe")
    return make_vision_model(folder, [(prompt, Question({"language": "en"}, IMAGE), "a red car")])


def make_florence(folder: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = make_tokenizer(extra_special_tokens={"image_token": "<image>"})
    text = {
        "vocab_size": len(tokenizer), "d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 128,
        "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 3, "forced_bos_token_id": 2,
    }  # fmt: skip
    vision = {
        "embed_dim": [16, 32], "depths": [1, 1], "num_heads": [2, 2], "num_groups": [2, 2], "patch_size": [7, 3],
        "patch_stride": [4, 2], "patch_padding": [3, 1], "patch_prenorm": [False, True], "window_size": 4, "projection_dim": 32,
    }  # fmt: skip
    config = Florence2Config(text_config=text, vision_config=vision, image_token_id=tokenizer.image_token_id)
    Florence2ForConditionalGeneration(config).save_pretrained(folder)
    Florence2Processor(clip_images(image_seq_length=17), tokenizer).save_pretrained(folder)
    return folder


def by_hand(folder: Path, beams: int, **given: Any) -> str:
    """The text of transformers' own generation."""
    processor = AutoProcessor.from_pretrained(folder)
    model = AutoModelForImageTextToText.from_pretrained(folder).eval()
    image = Image.open(io.BytesIO(IMAGE)).convert("RGB")
    if "chat" in given:
        content = [{"type": "image", "image": image}, {"type": "text", "text": given["chat"]}]
        messages = [{"role": "user", "content": content}]
        how = {"add_generation_prompt": True, "tokenize": True, "return_dict": True, "return_tensors": "pt"}
        inputs = processor.apply_chat_template(messages, **how)
    else:
        inputs = processor(images=image, return_tensors="pt", **given)
    with torch.inference_mode():
        tokens = model.generate(**inputs, max_new_tokens=60, num_beams=beams, do_sample=False)[0]
    start = inputs["input_ids"].shape[1] if "chat" in given else 0
    return " ".join(processor.decode(tokens[start:], skip_special_tokens=True).split())


@pytest.mark.parametrize(
    ("make", "beams", "given"),
    [(make_blip, 3, {}), (make_git, 3, {}), (make_florence, 3, {"text": "<CAPTION>"}), (make_chat, 1, {"chat": CHAT_PROMPT})],
)
def test_every_kind_writes_what_its_own_generation_gives(
    make: Callable[[Path], Path], beams: int, given: dict[str, Any], tmp_path: Path
) -> None:
    torch.set_num_threads(1)
    captioner = HubCaptioner(find_model(tmp_path, str(make(tmp_path / "model"))))
    written = captioner.write(IMAGE)
    assert written.text == by_hand(tmp_path / "model", beams, **given)
    assert 0.0 < written.likelihood < 1.0


def test_the_likelihood_is_the_geometric_mean_of_the_probabilities_of_the_words_and_the_end(tmp_path: Path) -> None:
    folder = make_blip(tmp_path / "model", says="a red car on the road")
    written = HubCaptioner(find_model(tmp_path, "model")).write(IMAGE)
    processor, model = AutoProcessor.from_pretrained(folder), AutoModelForImageTextToText.from_pretrained(folder).eval()
    pixels = processor(images=Image.open(io.BytesIO(IMAGE)).convert("RGB"), return_tensors="pt").pixel_values
    words = processor.tokenizer("a red car on the road", return_tensors="pt").input_ids
    with torch.inference_mode():
        logits = model(pixel_values=pixels, input_ids=words).logits.log_softmax(-1)
    steps = logits[0, :-1].gather(1, words[0, 1:, None])
    assert written.text == "a red car on the road"
    assert written.likelihood == pytest.approx(math.exp(steps.mean()), abs=1e-4)
