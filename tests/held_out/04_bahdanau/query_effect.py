import torch


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
