"""A whole model of another package, its weights copied into the model of chapter 11."""

from __future__ import annotations

import torch
from torch import Tensor

from attn_course.transformer import LanguageModel
from tests.course.peers.packages import BATCH, HEADS, LENGTH, WIDTH, Pair, copy

VOCAB, D_HIDDEN, LAYERS = 31, 40, 3


def gpt_neox() -> list[Pair]:
    """GPT-NeoX with a ReLU, its parts one after the other, and a tied readout: the same model."""
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    config = GPTNeoXConfig(
        vocab_size=VOCAB,
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=D_HIDDEN,
        hidden_act="relu",
        rope_parameters={
            "rope_type": "default",
            "rope_theta": 10_000.0,
            "partial_rotary_factor": 1.0,
        },
        use_parallel_residual=False,
        tie_word_embeddings=True,
        attn_implementation="eager",
    )
    theirs = GPTNeoXForCausalLM(config).double().eval()
    for weight in theirs.parameters():
        torch.nn.init.normal_(weight, std=0.3)
    ours = LanguageModel(VOCAB, WIDTH, HEADS, D_HIDDEN, LAYERS, context=LENGTH).double()
    copy_all(theirs, ours)
    words = torch.randint(VOCAB, (BATCH, LENGTH))
    outputs = ours(words), theirs(words).logits
    tables = ours.embedding.weight, theirs.gpt_neox.embed_in.weight
    direction = torch.randn_like(outputs[0])
    slopes = [
        torch.autograd.grad((output * direction).sum(), table)[0]
        for output, table in zip(outputs, tables, strict=True)
    ]
    return [outputs, tuple(slopes)]


def copy_all(theirs: torch.nn.Module, ours: LanguageModel) -> None:
    """Copy the weights, the pairs of features that a position turns side by side."""
    inside = theirs.gpt_neox
    with torch.no_grad():
        ours.embedding.weight.copy_(inside.embed_in.weight)
    for block, layer in zip(ours.blocks, inside.layers, strict=True):
        joint = layer.attention.query_key_value
        weights, biases = (part.unflatten(0, (HEADS, 3, -1)) for part in (joint.weight, joint.bias))
        own = block.attention
        for at, part in enumerate((own.project_query, own.project_key, own.project_value)):
            order = side_by_side(WIDTH // HEADS) if at < 2 else slice(None)
            copy(part, weights[:, at, order].flatten(0, 1), biases[:, at, order].flatten())
        copy(own.project_output, layer.attention.dense.weight, layer.attention.dense.bias)
        copy(block.widen, layer.mlp.dense_h_to_4h.weight, layer.mlp.dense_h_to_4h.bias)
        copy(block.narrow, layer.mlp.dense_4h_to_h.weight, layer.mlp.dense_4h_to_h.bias)
        block.norm_attention.load_state_dict(layer.input_layernorm.state_dict())
        block.norm_maps.load_state_dict(layer.post_attention_layernorm.state_dict())
    ours.norm.load_state_dict(inside.final_layer_norm.state_dict())


def side_by_side(d_head: int) -> Tensor:
    """The order in which features of the two halves of a head, which form pairs, are neighbours."""
    return torch.arange(d_head).view(2, -1).T.flatten()
