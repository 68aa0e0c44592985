import math

import torch
from torch import Tensor


def _weights(scores, source_len):
    padding = torch.arange(scores.shape[-1]) >= source_len[:, None, None]
    return torch.softmax(scores.masked_fill(padding, -torch.inf), -1)


def wrong_mean_over_keys(scores, source_len):
    """It takes the mean spread over the keys, where the largest is asked."""
    weights = _weights(scores, source_len)
    return (weights.amax(1) - weights.amin(1)).mean(-1)


def wrong_within_a_query(scores, source_len):
    """It compares the keys of one query, not the queries at one key."""
    weights = _weights(scores, source_len)
    return (weights.amax(2) - weights.amin(2)).amax(1)


def wrong_padding_has_weight(scores, source_len):
    """It takes a plain softmax, so padding takes part."""
    weights = torch.softmax(scores, -1)
    return (weights.amax(1) - weights.amin(1)).amax(1)


def wrong_scores_compared(scores, source_len):
    """It compares scores, not weights."""
    padding = torch.arange(scores.shape[-1]) >= source_len[:, None, None]
    spread = scores.amax(1) - scores.amin(1)
    return spread.masked_fill(padding.squeeze(1), 0).amax(1)


def wrong_neighbours_only(scores, source_len):
    """It compares each query with the next one only."""
    weights = _weights(scores, source_len)
    return weights.diff(dim=1).abs().amax((1, 2))


def right_all_pairs_of_queries(scores, source_len):
    """It compares every query with every other, and takes the largest difference of all."""
    weights = _weights(scores, source_len)
    gap = weights.unsqueeze(1) - weights.unsqueeze(2)
    return gap.abs().flatten(1).max(dim=1).values


def _cut_weights(scores, source_len):
    seen = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    weights = torch.softmax(scores.masked_fill(~seen, -torch.inf), -1)
    return torch.where(seen, weights, 0)


def wrong_standard_deviation(scores, source_len):
    """The spread over the queries is measured by its standard deviation."""
    return _cut_weights(scores, source_len).std(1, correction=0).amax(-1)


def wrong_against_the_first_and_padding(scores, source_len):
    """Only the first query is compared with the others, and padding has weight."""
    weights = torch.softmax(scores, -1)
    return (weights - weights[:, :1]).abs().amax((1, 2))


def wrong_padding_in_softmax(scores, source_len):
    """Takes the softmax over all places, padding included."""
    weights = torch.softmax(scores, dim=-1)
    spread = weights.amax(dim=1) - weights.amin(dim=1)
    return spread.amax(dim=-1)


def wrong_spread_over_keys(scores, source_len):
    """Compares the largest and smallest weight of one query, over the keys, instead of the
    weights of one key over the queries."""
    padding = torch.arange(scores.shape[-1]) >= source_len[:, None, None]
    weights = torch.softmax(scores.masked_fill(padding, -torch.inf), dim=-1)
    spread = weights.amax(2) - weights.amin(2)
    return spread.amax(1)


def wrong_neighbours_summed(scores, source_len):
    """Two mistakes: compares only neighbouring queries (none if there is one), and sums over the
    keys instead of taking the largest."""
    place = torch.arange(scores.size(2), device=scores.device)
    mask = place[None, None, :] < source_len[:, None, None]
    alpha = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    change = (alpha[:, 1:] - alpha[:, :-1]).abs().sum(dim=-1)
    if change.shape[1] == 0:
        return scores.new_zeros(scores.shape[0])
    return change.max(dim=1).values


def right_every_pair_of_queries(scores, source_len):
    """The largest distance, in the maximum norm, between the rows of weights of any two queries."""
    place = torch.ones_like(scores, dtype=torch.long).cumsum(-1)
    hidden = place > source_len[:, None, None]
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    return torch.cdist(weights, weights, p=torch.inf).amax((1, 2))


def wrong_mean_over_keys_fifth(scores, source_len):
    """It takes the mean over the keys where the largest difference is asked for."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
    effect = weights.amax(1) - weights.amin(1)
    return effect.sum(-1) / source_len


def wrong_difference_over_keys(scores, source_len):
    """It takes the largest minus the smallest weight of a query, over the keys."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
    low = weights.masked_fill(~real, torch.inf).amin(-1)
    return (weights.amax(-1) - low).amax(-1)


def wrong_padding_in_the_softmax(scores, source_len):
    """Its softmax runs over the padding too, so the scores there count."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    weights = scores.softmax(-1).masked_fill(~real, 0)
    return (weights.amax(1) - weights.amin(1)).amax(-1)


def wrong_against_the_first_query(scores, source_len):
    """It compares every query with the first one only."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
    return (weights - weights[:, :1]).abs().amax((1, 2))


def right_all_pairs_of_queries_fifth(scores, source_len):
    """Every query is compared with every other, and the largest difference is kept."""
    real = torch.arange(scores.shape[-1]) < source_len[:, None, None]
    weights = scores.masked_fill(~real, -torch.inf).softmax(-1)
    return (weights[:, :, None] - weights[:, None]).abs().amax((1, 2, 3))


def attention_weights(scores: Tensor, source_len: Tensor) -> Tensor:
    """Softmax over the tokens of each source, and 0 at its padding."""
    padding = torch.arange(scores.shape[-1], device=scores.device) >= source_len[:, None, None]
    weights = torch.softmax(scores.masked_fill(padding, -math.inf), -1)
    return weights.masked_fill(padding, 0)


def wrong_spread_over_keys_sixth(scores: Tensor, source_len: Tensor) -> Tensor:
    """Takes the largest and smallest weight of each query, not of each key."""
    weights = attention_weights(scores, source_len)
    return (weights.amax(2) - weights.amin(2)).amax(1)


def wrong_neighbours_only_sixth(scores: Tensor, source_len: Tensor) -> Tensor:
    """Compares each query only with the next one."""
    weights = attention_weights(scores, source_len)
    if weights.shape[1] == 1:
        return weights.new_zeros(len(weights))
    return weights.diff(dim=1).abs().amax((1, 2))


def wrong_padding_has_weight_sixth(scores: Tensor, source_len: Tensor) -> Tensor:
    """Takes the softmax over all keys and leaves padding out only of the comparison."""
    weights = torch.softmax(scores, -1)
    spread = weights.amax(1) - weights.amin(1)
    padding = torch.arange(scores.shape[-1], device=scores.device) >= source_len[:, None]
    return spread.masked_fill(padding, 0).amax(1)


def right_all_pairs(scores: Tensor, source_len: Tensor) -> Tensor:
    """Compares the weights of every query with every other query's."""
    weights = attention_weights(scores, source_len)
    apart = weights.unsqueeze(1) - weights.unsqueeze(2)
    return apart.abs().flatten(1).amax(1)


def masked_weights(scores: Tensor, source_len: Tensor) -> Tensor:
    place = torch.arange(scores.shape[-1], device=scores.device)
    padding = place >= source_len[:, None, None]
    return scores.masked_fill(padding, float("-inf")).softmax(-1)


def wrong_extremes_of_the_table(scores: Tensor, source_len: Tensor) -> Tensor:
    """Subtracts the smallest weight of the whole table from the largest, not key by key."""
    weights = masked_weights(scores, source_len)
    return weights.amax((1, 2)) - weights.amin((1, 2))


def wrong_against_first_query(scores: Tensor, source_len: Tensor) -> Tensor:
    """Compares every query with the first one only."""
    weights = masked_weights(scores, source_len)
    return (weights - weights[:, :1]).abs().amax((1, 2))


def wrong_padding_gets_weight(scores: Tensor, source_len: Tensor) -> Tensor:
    """Takes the softmax over all places, the padding too."""
    weights = scores.softmax(-1)
    return (weights.amax(1) - weights.amin(1)).amax(-1)


def right_every_pair(scores: Tensor, source_len: Tensor) -> Tensor:
    """Compares every query with every other."""
    weights = masked_weights(scores, source_len)
    pairs = weights.unsqueeze(1) - weights.unsqueeze(2)
    return pairs.abs().flatten(1).amax(1)


def _ninth_weights(scores, source_len):
    padding = torch.ones_like(scores).cumsum(-1) > source_len[:, None, None]
    return torch.softmax(scores.masked_fill(padding, -torch.inf), -1)


def wrong_against_the_first_query_ninth(scores, source_len):
    """Every query is compared with the first."""
    weights = _ninth_weights(scores, source_len)
    return (weights - weights[:, :1]).abs().amax(2).amax(1)


def wrong_against_the_last_query(scores, source_len):
    """Every query is compared with the last."""
    weights = _ninth_weights(scores, source_len)
    return (weights - weights[:, -1:]).abs().flatten(1).amax(1)
