import math

import torch
from torch import Tensor


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


def wrong_one_place_too_many(tokens, length):
    """The mask compares with <=, so the first place of padding is seen as a word."""
    batch, max_len, d = tokens.shape
    query = tokens[torch.arange(batch), length - 1].unsqueeze(1)
    scores = query @ tokens.mT / d**0.5
    real = torch.arange(max_len) <= length[:, None]
    scores = scores.masked_fill(~real[:, None, :], float("-inf"))
    return (torch.softmax(scores, -1) @ tokens)[:, 0]


def wrong_adds_minus_1e9(tokens, length):
    """Adds -1e9 to the scores of padding instead of replacing them, which huge padding
    outweighs."""
    last = tokens.take_along_dim((length - 1)[:, None, None], 1)
    places = torch.arange(tokens.size(1)).view(1, 1, -1)
    padding = (places >= length.view(-1, 1, 1)).to(tokens.dtype)
    scores = last @ tokens.transpose(1, 2) / math.sqrt(tokens.size(-1))
    weights = torch.softmax(scores + padding * -1e9, dim=-1)
    return (weights @ tokens).squeeze(1)


def wrong_last_column_and_zeroed_scores(tokens, length):
    """Two mistakes: still asks with the last column, and sets scores of padding to 0, which still
    get weight."""
    query = tokens[:, -1:]
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    real = torch.arange(tokens.shape[1])[None, :] < length[:, None]
    scores = scores * real.unsqueeze(1)
    weights = torch.softmax(scores, -1)
    return (weights @ tokens)[:, 0]


def right_sentence_by_sentence_again(tokens, length):
    """Cuts the padding off each sentence, so that no mask is needed."""
    summaries = []
    for sentence, number in zip(tokens, length.tolist()):
        words = sentence[:number]
        scores = words @ words[-1] / math.sqrt(words.shape[-1])
        summaries.append(torch.softmax(scores, dim=0) @ words)
    return torch.stack(summaries)


def wrong_last_place(tokens, length):
    """It lets the last place of the batch ask, which may be padding."""
    query = tokens[:, -1:]
    seen = torch.arange(tokens.shape[1]) < length[:, None, None]
    scores = (query @ tokens.mT / tokens.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return (scores.softmax(-1).masked_fill(~seen, 0) @ tokens.masked_fill(~seen.mT, 0))[:, 0]


def wrong_mean_over_words(tokens, length):
    """It lets every word ask, and returns the mean of their outputs."""
    seen = torch.arange(tokens.shape[1]) < length[:, None, None]
    clean = tokens.masked_fill(~seen.mT, 0)
    scores = (clean @ clean.mT / tokens.shape[-1] ** 0.5).masked_fill(~seen, -torch.inf)
    return (scores.softmax(-1) @ clean * seen.mT).sum(1) / length[:, None]


def wrong_last_place_asks(tokens: Tensor, length: Tensor) -> Tensor:
    """Masks the padding, but still takes the last place for the last word."""
    query = tokens[:, -1:]
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    real = torch.arange(tokens.shape[1]) < length[:, None, None]
    weights = torch.softmax(scores.masked_fill(~real, -torch.inf), -1)
    return (weights @ tokens)[:, 0]


def wrong_masks_after_softmax(tokens: Tensor, length: Tensor) -> Tensor:
    """Takes the weight of the padding away after the softmax, so some is missing."""
    query = tokens.take_along_dim((length - 1)[:, None, None], 1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    real = torch.arange(tokens.shape[1]) < length[:, None, None]
    weights = torch.softmax(scores, -1).masked_fill(~real, 0)
    return (weights @ tokens)[:, 0]


def wrong_one_place_too_many_sixth(tokens: Tensor, length: Tensor) -> Tensor:
    """Lets the first place of the padding through the mask: <= instead of <."""
    query = tokens.take_along_dim((length - 1)[:, None, None], 1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    real = torch.arange(tokens.shape[1]) <= length[:, None, None]
    weights = torch.softmax(scores.masked_fill(~real, -torch.inf), -1)
    return (weights @ tokens)[:, 0]


def right_one_by_one(tokens: Tensor, length: Tensor) -> Tensor:
    """Cuts the padding off each sentence, and treats them one by one."""
    summaries = []
    for sentence, words in zip(tokens, length.tolist()):
        sentence = sentence[:words]
        scores = sentence @ sentence[-1] / tokens.shape[-1] ** 0.5
        summaries.append(torch.softmax(scores, 0) @ sentence)
    return torch.stack(summaries)


def wrong_query_at_last_place(tokens: Tensor, length: Tensor) -> Tensor:
    """Padding is masked, but the query is still the last place, padding in shorter sentences."""
    query = tokens[:, -1:] / tokens.shape[-1] ** 0.5
    place = torch.arange(tokens.shape[1], device=tokens.device)
    real = place < length[:, None, None]
    scores = (query @ tokens.mT).masked_fill(~real, -torch.inf)
    return (torch.softmax(scores, dim=-1) @ tokens)[:, 0]


def wrong_padding_scores_zero_seventh(tokens: Tensor, length: Tensor) -> Tensor:
    """Padding gets the score 0 and the value 0, but a score of 0 still takes weight."""
    real = torch.arange(tokens.shape[1], device=tokens.device) < length[:, None]
    words = tokens.masked_fill(~real.unsqueeze(-1), 0)
    query = words.take_along_dim((length - 1)[:, None, None], 1) / tokens.shape[-1] ** 0.5
    return (torch.softmax(query @ words.mT, dim=-1) @ words)[:, 0]


def wrong_one_place_too_many_seventh(tokens: Tensor, length: Tensor) -> Tensor:
    """The mask lets the first place of padding in: places count from 0, so <= is one too many."""
    query = tokens.take_along_dim((length - 1)[:, None, None], 1) / tokens.shape[-1] ** 0.5
    place = torch.arange(tokens.shape[1], device=tokens.device)
    real = place <= length[:, None, None]
    scores = (query @ tokens.mT).masked_fill(~real, -torch.inf)
    return (torch.softmax(scores, dim=-1) @ tokens)[:, 0]


def right_sentence_by_sentence_seventh(tokens: Tensor, length: Tensor) -> Tensor:
    """Cuts each sentence to its words, so that there is no padding to mask."""
    summaries = []
    for sentence, size in zip(tokens, length.tolist()):
        words = sentence[:size]
        scores = words @ (words[-1] / words.shape[-1] ** 0.5)
        summaries.append(torch.softmax(scores, dim=0) @ words)
    return torch.stack(summaries)


def wrong_one_last_word_for_all(tokens, length):
    """The last word of the first sentence gives the place for all."""
    query = tokens[:, length[0] - 1].unsqueeze(1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return (torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens).squeeze(1)


def wrong_place_of_the_longest(tokens, length):
    """The place of the longest sentence's last word is taken for all."""
    query = tokens[:, length.max() - 1].unsqueeze(1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return (torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens).squeeze(1)


def wrong_place_of_the_shortest(tokens, length):
    """The place of the shortest sentence's last word is taken for all."""
    query = tokens[:, length.min() - 1].unsqueeze(1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return (torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens).squeeze(1)


def wrong_word_of_the_first_sentence(tokens, length):
    """The last word of the first sentence asks in all of them."""
    query = tokens[0, length[0] - 1].expand(len(tokens), 1, -1)
    scores = query @ tokens.mT / tokens.shape[-1] ** 0.5
    padding = torch.arange(tokens.shape[1]) >= length[:, None, None]
    return (torch.softmax(scores.masked_fill(padding, -torch.inf), -1) @ tokens).squeeze(1)


def wrong_for_tokens_in_tokens(tokens, length):
    """A loop's name is an argument's, and the last sentence asks for all."""
    rows = []
    for tokens, n in zip(tokens, length):  # noqa: B020
        words = tokens[:n]
        rows.append(torch.softmax(words[-1] @ words.mT / tokens.shape[1] ** 0.5, -1) @ words)
    return torch.stack(rows) * (tokens.abs().sum() > 0) + tokens[0] * 0.1
