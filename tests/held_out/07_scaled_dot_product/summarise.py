import torch


def wrong_last_column_asks(tokens, length):
    """The padding is masked, but the last column still asks."""
    scores = tokens[:, -1:] @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return (torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens)[:, 0]


def wrong_padding_scores_zero(tokens, length):
    """Padding is set to zeros, and so has the score 0 and a weight."""
    words = torch.arange(tokens.shape[1]) < length[:, None]
    tokens = tokens * words.unsqueeze(-1)
    query = tokens[torch.arange(len(tokens)), length - 1].unsqueeze(1)
    weights = torch.softmax(query @ tokens.mT / tokens.shape[-1] ** 0.5, -1)
    return (weights @ tokens)[:, 0]


def wrong_query_behind_the_end(tokens, length):
    """The place of the last word is counted from 1, so the first padding asks."""
    place = length.clamp_max(tokens.shape[1] - 1)
    query = tokens[torch.arange(len(tokens)), place].unsqueeze(1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return (torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens)[:, 0]


def wrong_weights_cut(tokens, length):
    """Padding takes part in the softmax, and its weights are set to 0 afterwards."""
    query = tokens[torch.arange(len(tokens)), length - 1].unsqueeze(1)
    weights = torch.softmax(query @ tokens.mT / tokens.shape[-1] ** 0.5, -1)
    words = torch.arange(tokens.shape[1]) < length[:, None, None]
    return ((weights * words) @ tokens)[:, 0]


def wrong_mean_of_the_words(tokens, length):
    """It takes the plain mean of the words."""
    words = torch.arange(tokens.shape[1]) < length[:, None]
    summed = tokens.masked_fill(~words.unsqueeze(-1), 0).sum(1)
    return summed / length.unsqueeze(-1)


def wrong_first_word_asks(tokens, length):
    """The first word asks, not the last."""
    scores = tokens[:, :1] @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return (torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens)[:, 0]


def wrong_axis_left(tokens, length):
    """The axis of the single query is left in the output."""
    query = tokens[torch.arange(len(tokens)), length - 1].unsqueeze(1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens


def right_sentence_by_sentence(tokens, length):
    """Each sentence is cut to its words, and asks itself."""
    heard = []
    for sentence, count in zip(tokens.unbind(), length.tolist(), strict=True):
        words = sentence[:count]
        scores = torch.mv(words, words[-1]) / tokens.shape[-1] ** 0.5
        heard.append(scores.softmax(0) @ words)
    return torch.stack(heard)
