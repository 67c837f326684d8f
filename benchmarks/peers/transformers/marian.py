"""Our Transformer captioner as a model of ``transformers``, with the same weights.

Marian's is the architecture that equals the paper's most simply: norms after residual sums and none on top, sinusoidal
positions, scaled word vectors tied to the output. Its attention has biases, which are zero here; its positions have sines
in one half and cosines in the other, and are given ours. Image embeddings go in as ``inputs_embeds``.
"""

import torch
from transformers import MarianConfig, MarianMTModel


def same_network(ours):
    """A Marian model that computes what ``ours`` (a TransformerCaptioner with norms after its sub-layers) does."""
    config = ours.config
    assert not config.pre_norm, "Marian's norms come after its sub-layers"
    end, start, pad = 2, 1, 0
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=config.vocabulary,
            d_model=config.width,
            encoder_layers=config.layers,
            decoder_layers=config.layers,
            encoder_attention_heads=config.heads,
            decoder_attention_heads=config.heads,
            encoder_ffn_dim=config.feedforward,
            decoder_ffn_dim=config.feedforward,
            activation_function="relu",
            max_position_embeddings=len(ours.positions),
            scale_embedding=True,
            pad_token_id=pad,
            decoder_start_token_id=start,
            eos_token_id=end,
            forced_eos_token_id=None,
        )
    )
    theirs = theirs.to(ours.embedding.weight).eval()
    with torch.no_grad():
        theirs.model.shared.weight.copy_(ours.embedding.weight)
        for stack, layers in ((theirs.model.encoder, ours.encoder), (theirs.model.decoder, ours.decoder)):
            stack.embed_positions.weight.copy_(ours.positions)
            for their_layer, our_layer in zip(stack.layers, layers, strict=True):
                _fill(their_layer, our_layer)
    assert theirs.lm_head.weight is theirs.model.shared.weight
    return theirs


def _fill(theirs, ours):
    _fill_attention(theirs.self_attn, ours.itself)
    norms = [theirs.self_attn_layer_norm, theirs.final_layer_norm]
    if ours.across is not None:
        _fill_attention(theirs.encoder_attn, ours.across)
        norms.insert(1, theirs.encoder_attn_layer_norm)
    pairs = [*zip(norms, ours.norms, strict=True), (theirs.fc1, ours.inner), (theirs.fc2, ours.outer)]
    for theirs_part, ours_part in pairs:
        theirs_part.weight.copy_(ours_part.weight)
        theirs_part.bias.copy_(ours_part.bias)


def _fill_attention(theirs, ours):
    key, value = ours.key_value.weight.chunk(2)
    pairs = ((theirs.q_proj, ours.query.weight), (theirs.k_proj, key), (theirs.v_proj, value), (theirs.out_proj, ours.out.weight))
    for layer, weight in pairs:
        layer.weight.copy_(weight)
        layer.bias.zero_()


def write(theirs, embeddings, beam, longest, *, power=0.0, never=(), returned=1):
    """Word numbers of each image's captions, without signs, by ``generate`` with its key/value cache.

    ``never``: word numbers suppressed by logits processors and renormalised; a mask set in ``final_logits_bias``
    does the same without their time.
    """
    options = {"suppress_tokens": list(never), "renormalize_logits": True} if never else {}
    if beam > 1:
        options |= {"length_penalty": power, "early_stopping": "never"}
    # A vector of embeddings is at no place where a mask would have to be.
    mask = torch.ones(embeddings.shape[:2], dtype=torch.long, device=embeddings.device)
    found = theirs.generate(
        inputs_embeds=embeddings,
        attention_mask=mask,
        num_beams=beam,
        do_sample=False,
        max_new_tokens=longest,
        num_return_sequences=returned,
        use_cache=True,
        **options,
    )
    return [[word for word in row if word > 2] for row in found.tolist()]
