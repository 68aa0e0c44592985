"""Wrong answers that were once told something false, each with the mistake that it did not make."""

import math

import torch

from attn_course.transformer import next_token_law


def sums_what_the_mask_leaves(scores, value, mask, default):
    """It finds the rows without keys by their sum, not by `mask.all`."""
    weights = torch.exp(scores - scores.amax(-1, keepdim=True)) * mask
    total = weights.sum(-1, keepdim=True)
    return torch.where(total > 0, weights / torch.where(total > 0, total, 1.0) @ value, default)


def asks_the_mask_at_the_end(scores, value, mask, default):
    """It uses `mask.any` already."""
    weights = torch.exp(scores - scores.amax(-1, keepdim=True)) * mask
    total = weights.sum(-1, keepdim=True)
    blend = weights / torch.where(total > 0, total, 1.0) @ value
    return torch.where(mask.any(-1, keepdim=True), blend, default)


def returns_after_one_trial(layer, d_model, max_len, trials):
    """It returns from within the loop."""
    for _ in range(trials):
        length = int(torch.randint(2, max_len + 1, (1,)))
        tokens = torch.randn(length, d_model)
        order = torch.randperm(length)
        output, turned = layer(tokens), layer(tokens[order])
        if output.shape[0] != length:
            return False
        return bool((turned - output[order]).abs().max() <= 1e-4 * output.abs().max())


def returns_after_one_trial_of_all_lengths(layer, d_model, max_len, trials):
    tokens = torch.randn(max_len, d_model)
    for length in range(2, max_len + 1):
        order = torch.randperm(length)
        output, turned = layer(tokens[:length]), layer(tokens[:length][order])
        if len(output) != length:
            return False
        return bool((turned - output[order]).abs().max() <= 1e-4 * output.abs().max())


def _padding(scores, source_len):
    return torch.arange(scores.shape[-1]) >= source_len[:, None, None]


def takes_powers_of_masked_scores(scores, features, mask):
    """It masks before the softmax, whose powers overflow."""
    powers = scores.masked_fill(~mask, -math.inf).exp()
    total = powers.sum((-2, -1), keepdim=True)
    weights = torch.where(total > 0, powers / total.where(total > 0, 1.0), 0.0)
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


def draws_one_number_for_all(scores, features):
    """It draws, by the weights of each image, but one number for all images."""
    weights = scores.flatten(1).softmax(-1)
    cells = (weights.cumsum(-1) < torch.rand(())).sum(-1).clamp(max=weights.shape[-1] - 1)
    return features.flatten(1, 2)[torch.arange(len(cells)), cells], cells


def draws_one_cell_for_all(scores, features):
    weights = scores.flatten(1).softmax(-1)
    cells = torch.multinomial(weights[0], 1).expand(len(scores))
    return features.flatten(1, 2)[torch.arange(len(cells)), cells], cells


def keeps_an_axis(weights, is_word, share):
    """It returns a tensor, with a gradient."""
    total = (weights * is_word.unsqueeze(-1)).sum(1)
    return (share - total).square().sum(-1).mean(0, keepdim=True)


def returns_a_tensor_of_float32(weights, is_word, share):
    total = (weights * is_word.unsqueeze(-1)).sum(1)
    return (share - total).square().sum(-1).mean().float()


def detaches_the_normaliser(logits, target_output):
    """Its logits are normalised; no gradient goes through that."""
    log_p = logits - logits.logsumexp(-1, keepdim=True).detach()
    words = target_output != 0
    return -log_p[words].gather(-1, target_output[words].unsqueeze(-1)).mean()


def fills_with_minus_a_hundred(query, key, value, real):
    """It fills; it does not add."""
    scores = query @ key.mT / math.sqrt(key.shape[-1])
    length = real.shape[-1]
    seen = torch.ones(length, length, dtype=torch.bool).tril() & real.unsqueeze(-2)
    weights = torch.softmax(scores.masked_fill(~seen, -100.0), -1)
    return weights.masked_fill(~seen, 0) @ value


def counts_from_one(length, d_model):
    """Its pairs do turn evenly."""
    position = torch.arange(1, length + 1, dtype=torch.float64).unsqueeze(-1)
    angle = position / 10_000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(-2).float()


def zeroes_the_diagonal_of_powers(key, value, width):
    """It takes no softmax."""
    squared = (key.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    kernel = torch.exp(-squared / (2 * width**2))
    kernel = kernel * (1 - torch.eye(key.shape[-2], dtype=kernel.dtype))
    total = kernel.sum(-1, keepdim=True)
    return kernel / total.where(total > 0, 1.0) @ value


def transposes_and_broadcasts(query, key, weight):
    """It takes any number of axes."""
    return query @ weight.mT @ key.mT


def fills_the_words_of_the_window(scores, share, mask, half_width):
    """It masks before the softmax, and the wrong words."""
    place = (mask.sum(-1, keepdim=True) * share).unsqueeze(-1)
    distance = torch.arange(mask.shape[-1]) - place
    seen = mask.unsqueeze(-2) & (distance.abs() <= half_width)
    weights = torch.softmax(scores.masked_fill(seen, -torch.inf), -1).masked_fill(~seen, 0)
    return weights * torch.exp(-2 * (distance / half_width).square())


def _clamped(query, key, width):
    squared = (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1)
    return (1 - squared / width**2).clamp(min=0)


def divides_as_chapter_02_does(query, key, width):
    """Its weights are not all right."""
    kernel = _clamped(query, key, width)
    return kernel / kernel.sum(-1, keepdim=True)


def replaces_nan_under_a_clamp(query, key, width):
    """It compares nothing."""
    kernel = _clamped(query, key, width)
    return (kernel / kernel.sum(-1, keepdim=True)).nan_to_num(0)


def takes_its_own_reward_for_a_baseline(scores, cells, reward, baseline):
    """The log-weight does stand in its loss, times an advantage of 0."""
    log_weight = torch.log_softmax(scores, -1).gather(1, cells)
    return -(reward + (reward - reward).detach() * log_weight).mean()


def shares_out_what_the_mask_leaves(scores, features, mask):
    """It takes a softmax, so no power overflows; 0 is divided by 0."""
    weights = torch.softmax(scores.flatten(-2), -1) * mask.flatten(-2)
    weights = weights / weights.sum(-1, keepdim=True)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def writes_one_of_the_two(say, weights, digits, named, other, empty):
    """It reads the captioner's own weights, and never writes the second."""
    rows = torch.arange(len(weights))
    own, there = digits[rows, named], digits[rows, other]
    rest = weights.clone()
    rest[rows, named] = -1
    points = weights[rows, named] > rest.amax(1)
    told, still = weights.clone(), weights.clone()
    told[rows, named] = weights[rows, other]
    still[rows, named] = weights[rows, empty]
    shares = points, (say(told) == there)[own != there], say(still) == own
    return tuple(share.double().mean().item() for share in shares)


def seeds_a_generator_for_each_text(model, tokens, number, temperature, top_p, seed):
    """Its texts are drawn; they are alike because their random numbers are."""
    texts = []
    for text in tokens.split(1):
        generator = torch.Generator().manual_seed(seed)
        for _ in range(number):
            law = next_token_law(model(text)[:, -1], temperature, top_p=top_p)
            text = torch.cat([text, torch.multinomial(law, 1, generator=generator)], 1)
        texts.append(text)
    return torch.cat(texts)


# For each: its exercise, the mistake that it is, and what was said of it, which is false.
FALSE = {
    sums_what_the_mask_leaves: (
        "01_retrieval/lookup_with_default",
        "finds_empty_rows_by_their_sum",
        "as soon as one key is forbidden",
    ),
    asks_the_mask_at_the_end: (
        "01_retrieval/lookup_with_default",
        "takes_the_highest_forbidden_score_off",
        "`mask.any",
    ),
    returns_after_one_trial: (
        "08_self_attention/is_permutation_equivariant",
        "tries_once",
        "your sentences",
    ),
    returns_after_one_trial_of_all_lengths: (
        "08_self_attention/is_permutation_equivariant",
        "tries_once",
        "draw lengths",
    ),
    takes_powers_of_masked_scores: (
        "06_captioning/grid_context",
        "takes_powers_as_they_are",
        "mask after the softmax",
    ),
    draws_one_number_for_all: (
        "06_captioning/hard_context",
        "draws_one_number_for_the_batch",
        "take the highest score",
    ),
    draws_one_cell_for_all: (
        "06_captioning/hard_context",
        "draws_once_for_the_batch",
        "take the highest score",
    ),
    takes_its_own_reward_for_a_baseline: (
        "06_captioning/hard_loss",
        "forgets_the_weights",
        "has to stand in the loss",
    ),
    shares_out_what_the_mask_leaves: (
        "06_captioning/grid_context",
        "divides_powers_and_nothing",
        "a power of some hundreds",
    ),
    writes_one_of_the_two: (
        "06_captioning/look_elsewhere",
        "overwrites_before_it_reads",
        "before you have read it",
    ),
    keeps_an_axis: (
        "06_captioning/coverage_penalty",
        "keeps_an_axis",
        "Python number",
    ),
    returns_a_tensor_of_float32: (
        "06_captioning/coverage_penalty",
        "casts_to_float32",
        "Python number",
    ),
    detaches_the_normaliser: (
        "03_seq2seq/sequence_loss",
        "cuts_the_gradient_of_the_denominator",
        "logarithms of probabilities",
    ),
    fills_with_minus_a_hundred: (
        "08_self_attention/causal_attention",
        "adds_minus_ten_thousand",
        "you add",
    ),
    counts_from_one: (
        "08_self_attention/sinusoidal_positions",
        "begins_at_one",
        "turn unevenly",
    ),
    zeroes_the_diagonal_of_powers: (
        "02_kernel_regression/leave_one_out",
        "normalises_again_after_softmax",
        "take the softmax with the key itself",
    ),
    transposes_and_broadcasts: (
        "05_luong/general_scores",
        "transposes_the_weight",
        "no other number",
    ),
    fills_the_words_of_the_window: (
        "05_luong/local_weights",
        "fills_the_window",
        "divide again afterwards",
    ),
    divides_as_chapter_02_does: (
        "02_kernel_regression/epanechnikov_weights",
        "divides_nothing_by_nothing",
        "your weights are right",
    ),
    replaces_nan_under_a_clamp: (
        "02_kernel_regression/epanechnikov_weights",
        "replaces_nan_afterwards",
        "in the place of",
    ),
    seeds_a_generator_for_each_text: (
        "11_transformer/generate",
        "seeds_each_text",
        "you take the most probable token",
    ),
}
