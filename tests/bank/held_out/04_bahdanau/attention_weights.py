import math

import torch
from torch import Tensor, nn


def wrong_one_place_too_many(scores, source_len):
    """It compares places counted from 0 with <=, so the first padding is read as a token."""
    place = torch.arange(scores.shape[-1])
    padding = ~(place <= source_len[:, None, None]).expand(scores.shape)
    weights = torch.softmax(scores.masked_fill(padding, -torch.inf), -1)
    return weights.masked_fill(padding, 0)


def wrong_nan_to_num(scores, source_len):
    """It replaces the nan of an empty source by nan_to_num, and not in the gradient."""
    place = torch.arange(scores.shape[-1])
    bias = torch.zeros_like(scores)
    bias = bias.masked_fill(place >= source_len[:, None, None], -torch.inf)
    return torch.nan_to_num(torch.softmax(scores + bias, -1))


def wrong_minus_a_billion(scores, source_len):
    """It fills padding with -1e9, which is not low enough for very low scores of tokens."""
    padding = torch.arange(scores.shape[-1]) >= source_len[:, None, None]
    weights = torch.softmax(scores.masked_fill(padding, -1e9), -1)
    return weights.masked_fill(padding, 0)


def wrong_weights_set_to_zero(scores, source_len):
    """It takes the softmax over padding too and sets its weights to 0 afterwards."""
    padding = torch.arange(scores.shape[-1]) >= source_len[:, None, None]
    return torch.softmax(scores, -1).masked_fill(padding, 0)


def wrong_filled_in_place(scores, source_len):
    """It writes minus infinity into the caller's scores."""
    padding = torch.arange(scores.shape[-1]) >= source_len[:, None, None]
    scores.masked_fill_(padding, -torch.inf)
    return torch.softmax(scores, -1).masked_fill(padding, 0)


def wrong_zero_scores(scores, source_len):
    """It sets the scores of padding to 0, and 0 is a score like any other."""
    words = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    return torch.softmax(scores.where(words, 0.0), -1)


def wrong_rows_masked(scores, source_len):
    """The length is held against the numbers of the queries."""
    place = torch.arange(scores.shape[1]).unsqueeze(-1)
    padding = (place >= source_len[:, None, None]).expand(scores.shape)
    weights = torch.softmax(scores.masked_fill(padding, -torch.inf), -1)
    return weights.masked_fill(padding, 0)


def right_sentence_by_sentence(scores, source_len):
    """Each table is cut to its tokens, and the weights are padded with zeros again."""
    tables = []
    for table, length in zip(scores, source_len.tolist(), strict=True):
        weights = table[:, :length].softmax(dim=-1)
        missing = scores.shape[-1] - length
        tables.append(torch.nn.functional.pad(weights, (0, missing)))
    return torch.stack(tables)


def wrong_longest_source(scores, source_len):
    """All sentences are cut at the longest of the batch."""
    seen = torch.arange(scores.shape[-1]) < source_len.max()
    low = scores.masked_fill(~seen, -torch.inf)
    return torch.softmax(low, -1) if seen.any() else torch.zeros_like(scores)


def wrong_one_too_many_and_cut_afterwards(scores, source_len):
    """One place of padding is let in, and the weights are cut after the softmax."""
    seen = torch.arange(scores.shape[-1]) <= source_len[:, None, None]
    return torch.softmax(scores, -1) * seen


def wrong_minus_1e9(scores, source_len):
    """Fills padding with -1e9, which is not low enough where the scores of the tokens are lower
    still."""
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = place >= source_len[:, None, None]
    weights = torch.softmax(scores.masked_fill(padding, -1e9), dim=-1)
    return weights.masked_fill(padding, 0.0)


def wrong_minus_infinity_added(scores, source_len):
    """Adds minus infinity instead of filling it in and replaces the nan at the end, so the gradient
    of an empty source is nan."""
    key_len = scores.size(-1)
    mask = torch.arange(key_len)[None, None, :] < source_len[:, None, None]
    bias = torch.zeros_like(mask, dtype=scores.dtype)
    bias[~mask] = float("-inf")
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.nan_to_num(weights)


def wrong_masked_after_one_too_many(scores, source_len):
    """Two mistakes: masks the weights after a softmax over padding without sharing them anew, and
    one padding place too many counts as a token."""
    weights = torch.softmax(scores, dim=-1)
    index = torch.arange(scores.shape[2], device=scores.device)
    mask = index <= source_len.view(-1, 1, 1)
    return weights * mask


def right_cut_and_padded(scores, source_len):
    """Sentence by sentence: the padding is cut off, then zeros take its place behind the
    softmax."""
    key_len = scores.shape[-1]
    rows = []
    for table, n in zip(scores, source_len.tolist()):
        weights = table[:, :n].softmax(-1)
        zeros = table.new_zeros(table.shape[0], key_len - n)
        rows.append(torch.cat([weights, zeros], -1))
    return torch.stack(rows)


def wrong_nan_for_empty_sources(scores, source_len):
    """It leaves nan where a source is empty."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    return scores.masked_fill(~real, -torch.inf).softmax(-1)


def wrong_multiplies_scores_by_the_mask(scores, source_len):
    """It multiplies the scores by the mask before the softmax, so padding scores 0."""
    real = (torch.arange(scores.shape[-1]) < source_len[:, None, None]).to(scores.dtype)
    return (scores * real).softmax(-1) * (source_len[:, None, None] > 0)


def wrong_cut_after_softmax(scores, source_len):
    """It sets weights at padding to 0 after the softmax, so they do not sum to 1."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    return scores.softmax(-1).masked_fill(~real, 0)


def wrong_fill_not_low_enough(scores, source_len):
    """It fills the padding with -1e9, which is above tokens with lower scores."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    return scores.masked_fill(~real, -1e9).softmax(-1) * (source_len > 0)[:, None, None]


def right_sentence_by_sentence_fifth(scores, source_len):
    """Each table is cut to its tokens, and the weights are padded with zeros again."""
    tables = []
    for table, n in zip(scores, source_len.tolist(), strict=True):
        weights = table[:, :n].softmax(-1)
        rest = table.new_zeros(table.shape[0], table.shape[1] - n)
        tables.append(torch.cat([weights, rest], -1))
    return torch.stack(tables)


def wrong_one_place_too_many_sixth(scores: Tensor, source_len: Tensor) -> Tensor:
    """Counts the places from 0 but compares with <=, so the first padding gets weight."""
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = ~(place <= source_len[:, None, None])
    weights = torch.softmax(scores.masked_fill(padding, -math.inf), -1)
    return weights.masked_fill((source_len == 0)[:, None, None], 0)


def wrong_minus_infinity_added_sixth(scores: Tensor, source_len: Tensor) -> Tensor:
    """Adds minus infinity at padding: the gradient of a source without tokens is nan."""
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = place >= source_len[:, None, None]
    bias = torch.zeros_like(scores).masked_fill(padding, -math.inf)
    return torch.softmax(scores + bias, -1).masked_fill(padding, 0)


def wrong_renormalised(scores: Tensor, source_len: Tensor) -> Tensor:
    """Cuts padding out after the softmax and divides anew: low tokens are left with 0."""
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = place >= source_len[:, None, None]
    weights = torch.softmax(scores, -1).masked_fill(padding, 0)
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)


def right_sentence_by_sentence_sixth(scores: Tensor, source_len: Tensor) -> Tensor:
    """Takes the softmax of the tokens of each sentence alone and joins zeros to it."""
    rows = []
    for table, length in zip(scores, source_len.tolist(), strict=True):
        zeros = torch.zeros_like(table[:, length:])
        rows.append(torch.cat([table[:, :length].softmax(-1), zeros], -1))
    return torch.stack(rows)


def wrong_one_token_too_many(scores: Tensor, source_len: Tensor) -> Tensor:
    """Counts places from 0 but hides only those above source_len: one padding is seen."""
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = place > source_len[:, None, None]
    padding = padding | (source_len == 0)[:, None, None]
    weights = scores.masked_fill(padding, float("-inf")).softmax(-1)
    return weights.masked_fill(padding, 0)


def wrong_divides_after_softmax(scores: Tensor, source_len: Tensor) -> Tensor:
    """Shares the weight out anew after a softmax over all: low tokens have none left."""
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = place >= source_len[:, None, None]
    weights = scores.softmax(-1).masked_fill(padding, 0)
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1)


def wrong_empty_source_sees_first(scores: Tensor, source_len: Tensor) -> Tensor:
    """Avoids the nan of an empty source by giving its first place the weight 1."""
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = place >= source_len.clamp(min=1)[:, None, None]
    return scores.masked_fill(padding, float("-inf")).softmax(-1)


def right_sentence_by_sentence_seventh(scores: Tensor, source_len: Tensor) -> Tensor:
    """Takes the softmax of the tokens alone, and appends zeros."""
    rows = []
    for table, length in zip(scores, source_len.tolist()):
        weights = table[:, :length].softmax(-1)
        padding = table.shape[1] - length
        rows.append(nn.functional.pad(weights, (0, padding)))
    return torch.stack(rows)


def wrong_maximum_over_the_batch(scores, source_len):
    """The largest score is taken over the sentences, and one that scores low is 0/0."""
    padding = torch.ones_like(scores).cumsum(-1) > source_len[:, None, None]
    powers = torch.exp(scores - scores.amax(0, keepdim=True)).masked_fill(padding, 0)
    total = powers.sum(-1, keepdim=True)
    return powers / total.masked_fill(total == 0, 1)


def wrong_maximum_over_the_batch_masked(scores, source_len):
    """Likewise, of scores that are masked already."""
    padding = torch.ones_like(scores).cumsum(-1) > source_len[:, None, None]
    masked = scores.masked_fill(padding, -torch.inf)
    top = masked.amax(0, keepdim=True)
    powers = torch.exp(masked - top.masked_fill(top == -torch.inf, 0))
    total = powers.sum(-1, keepdim=True)
    return powers / total.masked_fill(total == 0, 1)
