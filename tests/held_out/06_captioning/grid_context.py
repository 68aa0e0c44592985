import torch


def wrong_softmax_of_each_row(scores, features, mask):
    """Each row of the grid has a softmax of its own."""
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1).masked_fill(~mask, 0)
    return (weights.unsqueeze(-1) * features).sum((-3, -2))


def wrong_nan_to_num(scores, features, mask):
    """The context of an image without cells is mended at the end, so its gradient is nan."""
    scores, mask = scores.flatten(-2), mask.flatten(-2)
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    context = (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)
    return torch.nan_to_num(context)


def wrong_naive_powers(scores, features, mask):
    """It takes plain powers, which overflow where scores are some hundreds."""
    powers = (torch.exp(scores) * mask).flatten(-2)
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total == 0, torch.ones_like(total), total)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def wrong_columns_first(scores, features, mask):
    """The scores are flattened column by column and the features row by row."""
    flat, seen = scores.mT.flatten(-2), mask.mT.flatten(-2)
    weights = torch.softmax(flat.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)


def wrong_mean_of_the_product(scores, features, mask):
    """It takes the mean over the cells of weight times feature, not the sum."""
    flat, seen = scores.flatten(-2), mask.flatten(-2)
    weights = torch.softmax(flat.masked_fill(~seen, -torch.inf), -1).masked_fill(~seen, 0)
    return (weights.unsqueeze(-1) * features.flatten(-3, -2)).mean(-2)


def wrong_zero_scores(scores, features, mask):
    """Forbidden cells get the score 0, which is a score like any other."""
    flat, seen = (scores * mask).flatten(-2), mask.flatten(-2)
    weights = torch.softmax(flat, -1)
    context = (weights.unsqueeze(-1) * features.flatten(-3, -2)).sum(-2)
    return context * seen.any(-1, keepdim=True)


def right_on_the_grid(scores, features, mask):
    """It never flattens: the powers of scores less the grid's maximum, and one einsum."""
    allowed = torch.where(mask, scores, torch.full_like(scores, -torch.inf))
    top = allowed.amax((-2, -1), keepdim=True)
    top = torch.where(top.isinf(), torch.zeros_like(top), top)
    powers = torch.exp(torch.where(mask, scores - top, -torch.inf))
    total = powers.sum((-2, -1), keepdim=True)
    weights = powers / torch.where(total > 0, total, torch.ones_like(total))
    return torch.einsum("...hw,...hwf->...f", weights, features)


def wrong_features_hidden_afterwards(scores, features, mask):
    """The softmax sees all cells; only the features of forbidden ones are set to 0."""
    weights = torch.softmax(scores.flatten(-2), -1)
    hidden = torch.where(mask.unsqueeze(-1), features, 0).flatten(-3, -2)
    return (weights.unsqueeze(-1) * hidden).sum(-2)


def wrong_mean_of_rows_and_a_billion(scores, features, mask):
    """A softmax in each row, then the mean of the rows; and forbidden scores are -1e9."""
    weights = torch.softmax(scores.masked_fill(~mask, -1e9), -1) / scores.shape[-2]
    return (weights.unsqueeze(-1) * features).sum((-3, -2))
