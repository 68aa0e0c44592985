"""One call of every public function and module of the chapters, to try each of them in every way.

A call is made on the default device, so that `with torch.device(...)` decides where it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attn_course import (
    bahdanau,
    captioning,
    decoding,
    kernel_regression,
    luong,
    multi_head,
    recurrence,
    retrieval,
    scaled_dot_product,
    self_attention,
    seq2seq,
)
from attn_course.captions import exact_expectation, hard_attention, image_grid
from attn_course.layer import fast_attention, position_bias
from attn_course.layer.combined_rules import and_rules
from attn_course.layer.scores import CappedScores
from attn_course.translation import transformer

BATCH, QUERY_LEN, KEY_LEN, WIDTH, VOCAB = 2, 3, 5, 8, 11


class Call(NamedTuple):
    """A function, and arguments of which some may be tensors."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def numbers(*shape: int) -> Tensor:
    """Draw numbers on the default device."""
    return torch.randn(*shape)


def query() -> Tensor:
    """Draw queries."""
    return numbers(BATCH, QUERY_LEN, WIDTH)


def key() -> Tensor:
    """Draw keys, or values."""
    return numbers(BATCH, KEY_LEN, WIDTH)


def scores() -> Tensor:
    """Draw scores."""
    return numbers(BATCH, QUERY_LEN, KEY_LEN)


def weights() -> Tensor:
    """Draw rows that sum to 1."""
    return torch.softmax(scores(), -1)


def some_mask() -> Tensor:
    """Make a mask that forbids some pairs, and to one query all."""
    return torch.tensor([[1, 1, 0, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]).bool()[None]


def length() -> Tensor:
    """Make lengths of two sentences."""
    return torch.tensor([2, KEY_LEN])


def source() -> Tensor:
    """Make two sentences, one of them padded."""
    return torch.tensor([[3, 4, 5, 6, 2], [3, 7, 2, 0, 0]])


def target() -> Tensor:
    """Make the beginnings of two translations."""
    return torch.tensor([[1, 3, 4], [1, 5, 0]])


def output() -> Tensor:
    """Make the words that follow the beginnings."""
    return torch.tensor([[3, 4, 2], [5, 2, 0]])


def image() -> Tensor:
    """Draw two images of four cells."""
    return numbers(BATCH, 1, 16, 16)


def encoder() -> seq2seq.Encoder:
    """Make an encoder."""
    return seq2seq.Encoder(VOCAB, 4, 4)


def captioner(kind: type[captioning.Captioner] = captioning.Captioner) -> captioning.Captioner:
    """Make a captioner of four cells."""
    return kind(captioning.GridEncoder(6, 4), 4, VOCAB, 4, 8, 4)


def luong_translator(**options: Any) -> luong.LuongTranslator:
    """Make a translator with multiplicative attention."""
    return luong.LuongTranslator(encoder(), VOCAB, 4, WIDTH, **options)


def transformer_translator() -> transformer.TransformerTranslator:
    """Make a translator without recurrence."""
    sizes = transformer.ModelSizes(8, 2, 16, 1)
    return transformer.TransformerTranslator(
        transformer.AttentionEncoder(VOCAB, sizes), VOCAB, sizes
    )


def of_model(
    use: Callable[..., Any], model: Callable[[], nn.Module], *arguments: Callable[[], Tensor]
) -> Call:
    """Use a model that is made anew."""
    return Call(partial(use, model()), tuple(make_one() for make_one in arguments))


def with_positions(bias: nn.Module, *roles: Tensor) -> Tensor:
    """Attend with a bias of positions, for two heads."""
    heads = (part.unsqueeze(-3).expand(*part.shape[:-2], 2, *part.shape[-2:]) for part in roles)
    return fast_attention.fast_attention(*heads, position_bias=bias)


def turn_one_way(vectors: Tensor, position: Tensor) -> Tensor:
    """Turn the first half of the features towards the second by the position."""
    first, second = vectors.chunk(2, -1)
    angle = position[..., None].to(vectors.dtype)
    turned = first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()
    return torch.cat(turned, -1)


def unlike(query_position: Tensor, key_position: Tensor) -> Tensor:
    """Allow a query all keys but the third."""
    return (query_position == key_position) | (key_position != 2)


def with_score(kind: Callable[..., nn.Module]) -> Call:
    """Score keys that went through the score's own projection."""
    score = kind()
    return Call(lambda query, key: score(query, score.project_key(key)), (query(), key()))


def step() -> Call:
    """Decode two tokens after three."""
    layer = multi_head.MultiHeadAttention(WIDTH, 2).requires_grad_(False)

    def decode(tokens: Tensor) -> Tensor:
        cache = multi_head.KeyValueCache()
        layer.step(tokens[:, :3], cache)
        return layer.step(tokens[:, 3:], cache)

    return Call(decode, (key(),))


def draws() -> Call:
    """Draw the cells of two captions."""
    model = captioner(hard_attention.HardCaptioner)
    return Call(lambda image, words: model.draw(words, model.start(image)).logits,
                (image(), target()))  # fmt: skip


def paths() -> Call:
    """Compute all paths of a caption."""
    model = captioner(hard_attention.HardCaptioner)
    return Call(
        lambda image, words, next_words: (
            exact_expectation.every_path(model, model.start(image), words, next_words)
            .log_likelihood
        ),
        (image(), target()[:, :2], output()[:, :2]),
    )  # fmt: skip


MHA = multi_head.MultiHeadAttention
CALLS: dict[str, Callable[[], Call]] = {
    "retrieval.exact_lookup": lambda: Call(
        retrieval.exact_lookup, (torch.eye(3)[None], torch.eye(3)[None], numbers(1, 3, 4))),
    "retrieval.nearest_lookup": lambda: Call(retrieval.nearest_lookup, (scores(), key())),
    "retrieval.dot_scores": lambda: Call(retrieval.dot_scores, (query(), key())),
    "retrieval.distance_scores": lambda: Call(retrieval.distance_scores, (query(), key())),
    "retrieval.masked_softmax": lambda: Call(retrieval.masked_softmax, (scores(), some_mask())),
    "retrieval.attend": lambda: Call(retrieval.attend, (scores(), key(), some_mask())),
    "retrieval.soft_lookup": lambda: Call(retrieval.soft_lookup, (query(), key(), key(), 0.7)),
    "retrieval.softmax_jacobian": lambda: Call(retrieval.softmax_jacobian, (weights(),)),
    "retrieval.effective_number_of_keys": lambda: Call(
        retrieval.effective_number_of_keys, (weights(),)),
    **{
        f"kernel_regression.{name}": partial(
            lambda kernel: Call(kernel, (numbers(3, 4).square(),)),
            getattr(kernel_regression, name))
        for name in ("log_gaussian", "log_boxcar", "log_triangular", "log_epanechnikov")
    },
    "kernel_regression.kernel_scores": lambda: Call(
        kernel_regression.kernel_scores, (query(), key(), 0.7)),
    "kernel_regression.nadaraya_watson": lambda: Call(
        kernel_regression.nadaraya_watson, (query(), key(), key(), 0.7)),
    "kernel_regression.leave_one_out": lambda: Call(
        kernel_regression.leave_one_out, (key(), key(), 0.7)),
    "kernel_regression.leave_one_out_error": lambda: Call(
        kernel_regression.leave_one_out_error, (key(), key(), 0.7)),
    "seq2seq.token_mask": lambda: Call(seq2seq.token_mask, (source(),)),
    "seq2seq.reverse_within_length": lambda: Call(
        seq2seq.reverse_within_length, (key(), source() != 0)),
    "seq2seq.Encoder": lambda: of_model(
        lambda model, words: model(words).annotations, encoder, source),
    "seq2seq.Recurrent": lambda: of_model(
        lambda model, words: model(words, model.start(words[:, 0, :4]))[0],
        lambda: seq2seq.Recurrent(WIDTH, 4), key),
    "seq2seq.FixedVectorTranslator": lambda: Call(
        seq2seq.FixedVectorTranslator(encoder(), VOCAB, 4, WIDTH), (source(), target())),
    "seq2seq.sequence_loss": lambda: Call(
        seq2seq.sequence_loss, (numbers(BATCH, 3, VOCAB), output())),
    "seq2seq.embed": lambda: Call(partial(seq2seq.embed, nn.Embedding(VOCAB, 4)), (source(),)),
    "seq2seq.known_words": lambda: Call(seq2seq.known_words, (source(), VOCAB)),
    "decoding.greedy_decode": lambda: of_model(
        lambda model, words: decoding.greedy_decode(model, words, 4), transformer_translator,
        source),
    "decoding.beam_search": lambda: of_model(
        lambda model, words: decoding.beam_search(model, words, 4, 2), transformer_translator,
        source),
    "bahdanau.additive_scores": lambda: Call(
        bahdanau.additive_scores, (query(), key(), numbers(WIDTH))),
    "bahdanau.AdditiveScore": lambda: with_score(lambda: bahdanau.AdditiveScore(WIDTH, WIDTH, 4)),
    "bahdanau.BahdanauTranslator": lambda: Call(
        bahdanau.BahdanauTranslator(encoder(), VOCAB, 4, WIDTH, 4), (source(), target())),
    "luong.general_scores": lambda: Call(
        luong.general_scores, (query(), key(), numbers(WIDTH, WIDTH))),
    "luong.concat_scores": lambda: Call(
        luong.concat_scores, (query(), key(), numbers(4, 2 * WIDTH), numbers(4))),
    "luong.window_mask": lambda: Call(luong.window_mask, (numbers(BATCH, 3), KEY_LEN, 2.0)),
    "luong.gaussian_window": lambda: Call(
        luong.gaussian_window, (numbers(BATCH, 3), KEY_LEN, 2.0)),
    "luong.DotScore": lambda: with_score(lambda: luong.DotScore(WIDTH, WIDTH)),
    "luong.GeneralScore": lambda: with_score(lambda: luong.GeneralScore(WIDTH, WIDTH)),
    "luong.LuongTranslator": lambda: Call(luong_translator(), (source(), target())),
    "luong.LuongTranslator, local-p": lambda: Call(
        luong_translator(attention="local-p"), (source(), target())),
    "luong.LuongTranslator, input feeding": lambda: Call(
        luong_translator(input_feeding=True), (source(), target())),
    "captioning.GridEncoder": lambda: Call(captioning.GridEncoder(6, 4), (image(),)),
    "captioning.Captioner": lambda: Call(captioner(), (image(), target())),
    "captioning.UniformCaptioner": lambda: Call(
        captioner(captioning.UniformCaptioner), (image(), target())),
    "image_grid.grid_weights": lambda: Call(image_grid.grid_weights, (numbers(BATCH, 2, 2),)),
    "image_grid.grid_context": lambda: Call(
        image_grid.grid_context,
        (image_grid.grid_weights(numbers(BATCH, 2, 2)), numbers(BATCH, 2, 2, 8))),
    "image_grid.over_pixels": lambda: Call(
        partial(image_grid.over_pixels, cell=4), (image_grid.grid_weights(numbers(BATCH, 2, 2)),)),
    "image_grid.doubly_stochastic_penalty": lambda: Call(
        image_grid.doubly_stochastic_penalty, (weights(),)),
    "hard_attention.draw_cells": lambda: Call(hard_attention.draw_cells, (weights(),)),
    "hard_attention.log_weight_of": lambda: Call(
        hard_attention.log_weight_of, (weights(), torch.tensor([[0, 1, 2], [4, 3, 2]]))),
    "hard_attention.entropy": lambda: Call(hard_attention.entropy, (weights(),)),
    "hard_attention.caption_log_likelihood": lambda: Call(
        hard_attention.caption_log_likelihood, (numbers(BATCH, 3, VOCAB), output())),
    "hard_attention.reinforce_loss": lambda: Call(
        hard_attention.reinforce_loss, (numbers(BATCH, 3), numbers(BATCH), 0.5)),
    "hard_attention.MovingAverage": lambda: Call(
        hard_attention.MovingAverage(), (numbers(BATCH),)),
    "hard_attention.one_hot": lambda: Call(
        hard_attention.one_hot, (torch.tensor([1, 0]), numbers(BATCH, 4))),
    "hard_attention.HardCaptioner": lambda: Call(
        captioner(hard_attention.HardCaptioner), (image(), target())),
    "hard_attention.HardCaptioner.draw": draws,
    "exact_expectation.exact_expected_log_likelihood": lambda: Call(
        exact_expectation.exact_expected_log_likelihood,
        (torch.log_softmax(numbers(BATCH, 4), -1), numbers(BATCH, 4))),
    "exact_expectation.exact_log_marginal": lambda: Call(
        exact_expectation.exact_log_marginal,
        (torch.log_softmax(numbers(BATCH, 4), -1), numbers(BATCH, 4))),
    "exact_expectation.exact_score_gradient": lambda: Call(
        exact_expectation.exact_score_gradient, (weights(), scores())),
    "exact_expectation.reinforce_variance": lambda: Call(
        exact_expectation.reinforce_variance, (weights(), scores())),
    "exact_expectation.best_baseline": lambda: Call(
        exact_expectation.best_baseline, (weights(), scores())),
    "exact_expectation.every_path": paths,
    "scaled_dot_product.scaled_dot_scores": lambda: Call(
        scaled_dot_product.scaled_dot_scores, (query(), key())),
    "scaled_dot_product.attention_weights": lambda: Call(
        scaled_dot_product.attention_weights, (query(), key(), some_mask())),
    "scaled_dot_product.attention": lambda: Call(
        scaled_dot_product.attention, (query(), key(), key(), some_mask())),
    "scaled_dot_product.causal_mask": lambda: Call(scaled_dot_product.causal_mask, (3, 5)),
    "scaled_dot_product.mask_of": lambda: Call(
        partial(scaled_dot_product.mask_of, scaled_dot_product.window(1)), (3, 5)),
    "scaled_dot_product.padding_mask": lambda: Call(
        scaled_dot_product.padding_mask, (length(), KEY_LEN)),
    "fast_attention.fast_attention": lambda: Call(
        fast_attention.fast_attention, (query(), key(), key())),
    "fast_attention.fast_attention, mask": lambda: Call(
        fast_attention.fast_attention, (query(), key(), key(), some_mask())),
    "fast_attention.fast_attention, window": lambda: Call(
        partial(fast_attention.fast_attention, rule=scaled_dot_product.window(1)),
        (query(), key(), key())),
    "fast_attention.fast_attention, own score": lambda: Call(
        partial(fast_attention.fast_attention, score=retrieval.distance_scores),
        (query(), key(), key())),
    "fast_attention.fast_attention, dropout": lambda: Call(
        partial(fast_attention.fast_attention, dropout=0.1), (query(), key(), key())),
    "fast_attention.fast_attention, sinks": lambda: Call(
        lambda sinks, *roles: fast_attention.fast_attention(*roles, sinks=sinks),
        (numbers(BATCH), query(), key(), key())),
    "scores.CappedScores": lambda: Call(CappedScores(2.0), (query(), key())),
    "position_bias.ALiBi": lambda: of_model(
        with_positions, lambda: position_bias.ALiBi(2), query, key, key),
    "position_bias.T5Bias": lambda: of_model(
        with_positions, lambda: position_bias.T5Bias(2), query, key, key),
    "self_attention.basic_self_attention": lambda: Call(
        self_attention.basic_self_attention, (key(),)),
    "self_attention.SelfAttention": lambda: Call(self_attention.SelfAttention(WIDTH), (key(),)),
    "self_attention.SelfAttention.weights": lambda: Call(
        self_attention.SelfAttention(WIDTH).weights, (key(),)),
    "self_attention.sinusoidal_positions": lambda: Call(
        self_attention.sinusoidal_positions, (5, 6)),
    "self_attention.rotate_by_position": lambda: Call(
        self_attention.rotate_by_position, (key(),)),
    "self_attention.LearnedPositions": lambda: Call(self_attention.LearnedPositions(7, 6), (5,)),
    "multi_head.split_heads": lambda: Call(partial(multi_head.split_heads, num_heads=2), (key(),)),
    "multi_head.merge_heads": lambda: Call(multi_head.merge_heads, (numbers(2, 3, 5, 4),)),
    "multi_head.MultiHeadAttention": lambda: Call(MHA(WIDTH, 2), (query(), key())),
    "multi_head.MultiHeadAttention, causal": lambda: Call(
        partial(MHA(WIDTH, 2), is_causal=True), (key(),)),
    "multi_head.MultiHeadAttention, padding": lambda: of_model(
        lambda model, tokens, mask: model(tokens, key_mask=mask), lambda: MHA(WIDTH, 2), key,
        lambda: source() != 0),
    "multi_head.MultiHeadAttention, of a published model": lambda: Call(
        MHA(WIDTH, 2, num_kv_heads=1, d_head_value=3, qk_norm=nn.LayerNorm, sinks=True,
            rotary=turn_one_way, rule=and_rules(scaled_dot_product.causal, unlike),
            score=CappedScores(2.0)),
        (key(),)),
    "multi_head.MultiHeadAttention, dropout": lambda: Call(MHA(WIDTH, 2, dropout=0.1), (key(),)),
    "multi_head.MultiHeadAttention.weights": lambda: Call(MHA(WIDTH, 2).weights, (query(), key())),
    "multi_head.MultiHeadAttention.with_weights": lambda: of_model(
        lambda model, tokens: model.with_weights(tokens)[0], lambda: MHA(WIDTH, 2), key),
    "multi_head.MultiHeadAttention.step": step,
    "recurrence.elman": lambda: Call(
        recurrence.elman, (key(), numbers(4, WIDTH), numbers(4, 4), numbers(4))),
    "recurrence.RecurrentLayer": lambda: Call(recurrence.RecurrentLayer("gru", WIDTH), (key(),)),
    "recurrence.RecurrentLayer.unrolled": lambda: Call(
        recurrence.RecurrentLayer("lstm", WIDTH).unrolled, (key(),)),
    "transformer.Block": lambda: Call(transformer.Block(WIDTH, 2, 16), (key(),)),
    "transformer.AttentionEncoder": lambda: of_model(
        lambda model, words: model.encoder(words).annotations, transformer_translator, source),
    "transformer.TransformerTranslator": lambda: Call(
        transformer_translator(), (source(), target())),
}  # fmt: skip
# Modules and names that take no tensors, are containers, or are tried as parts of something above.
ELSEWHERE = {
    "block_inputs", "blocks", "counterfactual", "flex", "fused_attention",
    "dropout", "head_masks", "key_value_cache", "online_softmax", "references",
    "torch_layer",
}  # fmt: skip
NO_TENSORS = {
    "Encoding", "Translator", "readout", "find_cell", "Stepwise", "Hypotheses",
    "AttentionTranslator", "make_score", "Memory", "Trace", "Draws", "Paths", "causal", "window",
    "Band", "positions", "allowed_by", "combine", "ModelSizes", "Embedding",
    "corpus_bleu", "exact_match", "alignment_error_rate", "choose_width", "last_along",
    "unchecked_fast_attention", "gradient_reach", "decay_per_step", "longest_chain",
    "count_parameters", "hard_links",
    # of rules, which their own tests try
    "and_rules", "reach_of", "AllOf",
    # of the model that writes, whose own tests try them
    "look_back", "LanguageModel", "next_token_loss", "bits_per_character", "keep_top_k",
    "keep_top_p", "next_token_law", "write",
    # of the models of heads alone, likewise
    "leave", "pattern", "head_outputs", "AttentionBlock", "AttentionOnly", "weights_of_heads",
    "previous_token_score", "after_same_token", "induction_score", "loss_where", "silence",
    "freeze", "exchange_keys", "read_without", "by_hand",
    # of long texts, likewise
    "angles", "rotate_pairs", "rotate_halves", "CacheSizes", "SlowMemory", "attend_by_table",
    "attend_in_tiles",
    # of linear attention, likewise
    "elu_features", "taylor_features", "random_features", "retained", "all_pairs", "add_pair",
    "correct_pair", "read", "one_by_one", "in_chunks", "linear_attention", "delta_values",
    "delta_rule",
}  # fmt: skip


def make(name: str, device: str = "cpu") -> Call:
    """Make the function and the arguments of a call on a device, the same each time."""
    with torch.device(device):
        torch.manual_seed(0)
        return CALLS[name]()
