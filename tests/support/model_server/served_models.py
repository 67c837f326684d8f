"""``transformers serve`` on loopback with a small chat model that was trained on the very questions of a test.

The server loads models with accelerate, which the extra ``dev`` installs; the product never uses it.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import httpx
import torch
from PIL import Image
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlamaForCausalLM,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
)

from components.model_server.client import Question
from components.model_server.prompts import Prompt
from tests.support.flows.served import free_port
from tests.support.hub import SIDE, VISION, make_tokenizer

TEMPLATE = (
    "{% for message in messages %}<s>{{ message.role }}: "
    "{% if message.content is string %}{{ message.content }}{% else %}{% for part in message.content %}"
    "{% if part.type == 'image' %}<image>{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}</s>{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant: {% endif %}"
)
END = "</s>"
PATCHES = (SIDE // int(VISION["patch_size"])) ** 2
LEAST_LOSS = 0.01
"""Of a token on average: below it, the answers are known by heart."""

Lesson = tuple[Prompt, Question, str]
"""What is asked, and the answer."""


def _llama(tokenizer: Any) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=2048, pad_token_id=0, bos_token_id=2, eos_token_id=3,
    )  # fmt: skip


def _tokenizer(lessons: Sequence[Lesson]) -> Any:
    from tokenizers import processors

    lines = [text for prompt, question, answer in lessons for text in (prompt.instructions, prompt.ask(question.fields), answer)]
    tokenizer = make_tokenizer(lines)
    tokenizer.backend_tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.chat_template, tokenizer.model_max_length = TEMPLATE, 2048
    return tokenizer


def make_text_model(folder: Path, lessons: Sequence[Lesson]) -> Path:
    """Write a chat model that gives the answers of ``lessons``, and return its folder; takes seconds."""
    torch.manual_seed(0)
    tokenizer = _tokenizer(lessons)
    model = LlamaForCausalLM(_llama(tokenizer))
    _learn(model, tokenizer, lessons)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_vision_model(folder: Path, lessons: Sequence[Lesson]) -> Path:
    """Write a chat model that sees images of 32 px and gives the answers of ``lessons``, and return its folder."""
    torch.manual_seed(0)
    tokenizer = _tokenizer(lessons)
    tokenizer.add_special_tokens({"additional_special_tokens": ["<image>"]})
    images = CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    processor = LlavaProcessor(
        images, tokenizer, patch_size=VISION["patch_size"], vision_feature_select_strategy="default",
        num_additional_image_tokens=1, chat_template=TEMPLATE,
    )  # fmt: skip
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**cast("Any", VISION)), text_config=_llama(tokenizer), image_seq_length=PATCHES,
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"), vision_feature_layer=-1,
    )  # fmt: skip
    model = LlavaForConditionalGeneration(config)
    _learn(model, processor, lessons)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _learn(model: Any, processor: Any, lessons: Sequence[Lesson]) -> None:
    """Train until each answer is known by heart."""
    tokenizer = getattr(processor, "tokenizer", processor)
    examples = []
    for prompt, question, answer in lessons:
        asked: Any = prompt.ask(question.fields)
        if question.image:
            image = {"type": "image", "image": Image.open(io.BytesIO(question.image)).convert("RGB")}
            asked = [image, {"type": "text", "text": asked}]
        system = prompt.instructions if processor is tokenizer else [{"type": "text", "text": prompt.instructions}]
        messages = [{"role": "system", "content": system}, {"role": "user", "content": asked}]
        inputs = processor.apply_chat_template(
            messages, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        target = tokenizer(answer + END, add_special_tokens=False, return_tensors="pt")["input_ids"]
        known = inputs["input_ids"].shape[1]
        inputs["input_ids"] = torch.cat([inputs["input_ids"], target], dim=1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        labels = inputs["input_ids"].clone()
        labels[:, :known] = -100
        examples.append({**inputs, "labels": labels})
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(400):
        losses = [model(**example).loss for example in examples]
        sum(losses).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if max(loss.item() for loss in losses) < LEAST_LOSS:
            model.eval()
            return
    raise AssertionError("the model did not learn its answers")


@contextmanager
def serve_model(folder: Path, patience: float = 120.0) -> Iterator[str]:
    """Run ``transformers serve`` with a model; yields its base address. The model's name is the folder."""
    port = free_port()
    assert find_spec("accelerate"), "transformers serve wants accelerate: pip install --editable '.[dev]'"
    program = Path(sys.executable).with_name("transformers")
    command = [str(program), "serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    log = folder.with_name(f"{folder.name}.log")
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, env=environment) as process:
        try:
            _wait(f"http://127.0.0.1:{port}/health", process, log, patience)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def _wait(url: str, process: Any, log: Path, patience: float) -> None:
    until = time.monotonic() + patience
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx.get(url, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    raise AssertionError(f"transformers serve does not answer: {log.read_text(errors='replace')[-2000:]}")
