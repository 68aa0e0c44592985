import torch
from torch import Tensor


def wrong_sum_over_captions(weights, is_word, share):
    """The penalties of the captions are added up, not averaged."""
    got = (weights * is_word.unsqueeze(-1)).sum(1)
    return (share - got).square().sum()


def wrong_mean_over_cells(weights, is_word, share):
    """It takes the mean over the cells too."""
    got = weights.masked_fill(~is_word.unsqueeze(-1), 0).sum(1)
    return (share - got).square().mean()


def wrong_padding_counts(weights, is_word, share):
    """The weights at padding are added up too."""
    return (share - weights.sum(1)).square().sum(-1).mean()


def wrong_square_of_each_word(weights, is_word, share):
    """It squares the gap at each word, and adds up after the square."""
    gap = (share - weights).square() * is_word.unsqueeze(-1)
    return gap.sum((1, 2)).mean()


def wrong_number(weights, is_word, share):
    """It returns a Python number, which no gradient leaves."""
    got = (weights * is_word.unsqueeze(-1)).sum(1)
    return (share - got).square().sum(-1).mean().item()


def wrong_distance_not_squared(weights, is_word, share):
    """It adds up the sizes of the gaps, not their squares."""
    got = (weights * is_word.unsqueeze(-1)).sum(1)
    return (share - got).abs().sum(-1).mean()


def right_multiplied_out(weights, is_word, share):
    """A product of matrices adds the words up, and the square is multiplied out."""
    got = torch.bmm(is_word.to(weights.dtype).unsqueeze(1), weights).squeeze(1)
    ones = torch.full_like(got, share)
    return torch.einsum("bc,bc->", got - ones, got - ones) / len(weights)


def wrong_share_of_each_word(weights, is_word, share):
    """It takes the share for a word's share, and multiplies it by the number of words."""
    heard = (weights * is_word.unsqueeze(-1)).sum(1)
    due = share * is_word.sum(1, keepdim=True)
    return (due - heard).square().sum(-1).mean()


def wrong_not_squared_and_summed(weights, is_word, share):
    """The distance is not squared, and the captions are added up."""
    heard = (weights * is_word.unsqueeze(-1)).sum(1)
    return (share - heard).abs().sum()


def wrong_mean_over_cells_again(weights, is_word, share):
    """Takes the mean over the cells too, instead of their sum."""
    got = (weights * is_word.unsqueeze(-1)).sum(dim=1)
    return ((share - got) ** 2).mean()


def wrong_square_before_sum(weights, is_word, share):
    """Squares at every word and then adds up over the words, instead of adding up first."""
    missing = (share - weights) ** 2
    missing = missing * is_word[:, :, None]
    penalty = missing.sum(dim=1).sum(dim=-1)
    return penalty.mean()


def wrong_padding_counts_and_sum(weights, is_word, share):
    """Two mistakes: the weights at padding count too, and the captions are added up, not
    averaged."""
    got = weights.sum(1)
    return torch.sum((share - got).square())


def right_vector_times_matrix(weights, is_word, share):
    """The sum over the words as a batched product of a row of 0s and 1s with the weights, the
    square as a dot product."""
    row = is_word.to(weights.dtype).unsqueeze(1)
    missing = share - torch.bmm(row, weights)
    penalties = torch.bmm(missing, missing.mT)
    return penalties.sum() / weights.shape[0]


def wrong_sum_over_captions_fifth(weights, is_word, share):
    """It returns the sum over the captions, not their mean."""
    total = (weights * is_word[..., None]).sum(1)
    return (share - total).square().sum()


def wrong_absolute_value(weights, is_word, share):
    """It takes the absolute difference, not its square."""
    total = (weights * is_word[..., None]).sum(1)
    return (share - total).abs().sum(-1).mean()


def wrong_squares_each_word(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """Squares the difference at each word, before the words are added up."""
    off = (share - weights).square().masked_fill(~is_word.unsqueeze(-1), 0)
    return off.sum((1, 2)).mean()


def wrong_mean_of_cells(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """Takes the mean over the cells too, where the penalty is their sum."""
    got = weights.masked_fill(~is_word.unsqueeze(-1), 0).sum(1)
    return (share - got).square().mean()


def wrong_mean_of_words(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """Compares the share with a cell's mean weight over the words instead of the sum."""
    got = weights.masked_fill(~is_word.unsqueeze(-1), 0).sum(1)
    got = got / is_word.sum(1, keepdim=True)
    return (share - got).square().sum(1).mean()


def right_product(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """Adds the words up by a product with ones and zeros, then divides by the batch."""
    got = torch.einsum("btn,bt->bn", weights, is_word.to(weights.dtype))
    return (got - share).square().sum() / len(weights)


def wrong_mean_over_cells_seventh(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """The penalty of a caption is averaged over its cells, where it should be their sum."""
    got = (weights * is_word.unsqueeze(-1)).sum(1)
    return (share - got).square().mean()


def wrong_padding_counts_seventh(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """The weights at padding are added up like those at words: `is_word` is not used."""
    got = weights.sum(1)
    return (share - got).square().sum(-1).mean()


def wrong_square_before_sum_seventh(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """The square is taken at each word, before the weights are added up over the words."""
    off = (share - weights).square() * is_word.unsqueeze(-1)
    return off.sum((1, 2)).mean()


def right_by_einsum(weights: Tensor, is_word: Tensor, share: float) -> Tensor:
    """One product over the words gives each cell's total; the sum is divided by the captions."""
    got = torch.einsum("btc,bt->bc", weights, is_word.to(weights.dtype))
    return (got - share).pow(2).sum() / len(weights)
