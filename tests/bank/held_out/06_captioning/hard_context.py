import torch
from torch import Tensor


def wrong_two_draws(scores, features):
    """It draws once for the context and once more for the numbers."""
    weights = torch.softmax(scores.flatten(1), -1)
    cells, rows = features.flatten(1, 2), torch.arange(len(scores))
    context = cells[rows, torch.multinomial(weights, 1).squeeze(1)]
    return context, torch.multinomial(weights, 1).squeeze(1)


def wrong_row_then_column(scores, features):
    """It draws a row and a column apart from each other, each by a softmax of sums of scores."""
    row = torch.multinomial(torch.softmax(scores.sum(2), -1), 1).squeeze(1)
    column = torch.multinomial(torch.softmax(scores.sum(1), -1), 1).squeeze(1)
    at = torch.arange(len(scores))
    return features[at, row, column], row * scores.shape[2] + column


def wrong_scores_as_weights(scores, features):
    """It draws by plain powers of the scores, which overflow."""
    weights = torch.exp(scores.flatten(1))
    number = torch.multinomial(weights, 1).squeeze(1)
    return features.flatten(1, 2)[torch.arange(len(scores)), number], number


def wrong_highest_score(scores, features):
    """It takes the cell with the highest score."""
    number = scores.flatten(1).argmax(1)
    return features.flatten(1, 2)[torch.arange(len(scores)), number], number


def wrong_axis_left(scores, features):
    """The numbers keep an axis of length 1, and so does the context."""
    weights = torch.softmax(scores.flatten(1), -1)
    number = torch.multinomial(weights, 1)
    return features.flatten(1, 2)[torch.arange(len(scores))[:, None], number], number


def wrong_seed_inside(scores, features):
    """It sets a seed, so that every call draws the same."""
    torch.manual_seed(0)
    number = torch.multinomial(torch.softmax(scores.flatten(1), -1), 1).squeeze(1)
    return features.flatten(1, 2)[torch.arange(len(scores)), number], number


def right_gumbel(scores, features):
    """It adds Gumbel noise to the scores and takes the largest sum."""
    flat = scores.detach().double().flatten(1)
    noise = torch.empty_like(flat).exponential_().log().neg()
    number = (flat + noise).argmax(1)
    place = number.view(-1, 1, 1).expand(-1, 1, features.shape[-1])
    return features.flatten(1, 2).gather(1, place).squeeze(1), number


def right_categorical(scores, features):
    """Torch's distribution draws by the scores themselves."""
    number = torch.distributions.Categorical(logits=scores.flatten(1)).sample()
    row, column = number // scores.shape[2], number % scores.shape[2]
    return features[torch.arange(len(scores)), row, column], number


def wrong_softmax_each_row(scores, features):
    """Takes the softmax in each row of the grid before flattening, so all rows are drawn equally
    often."""
    weights = torch.softmax(scores, dim=-1).flatten(1)
    number = torch.multinomial(weights, 1).squeeze(1)
    cells = features.flatten(1, 2)
    rows = torch.arange(len(cells))
    return cells[rows, number], number


def wrong_weights_as_logits(scores, features):
    """Passes the softmax to Categorical as logits, so a second softmax makes the draws too even and
    allows forbidden cells."""
    weights = scores.flatten(1).softmax(dim=-1)
    number = torch.distributions.Categorical(logits=weights).sample()
    batch = scores.shape[0]
    context = features.reshape(batch, -1, features.shape[-1])[torch.arange(batch), number]
    return context, number


def wrong_draws_twice_and_squeeze(scores, features):
    """Two mistakes: draws once for the context and again for the numbers, and squeeze() also
    removes a batch of 1."""
    batch = scores.size(0)
    probs = torch.softmax(scores.reshape(batch, -1), dim=1)
    flat = features.reshape(batch, -1, features.size(-1))
    context = flat[torch.arange(batch), torch.multinomial(probs, 1).squeeze()]
    cells = torch.multinomial(probs, 1).squeeze()
    return context, cells


def right_gumbel_again(scores, features):
    """Draws with the Gumbel trick: argmax of the scores plus noise, then gather."""
    batch, height, width = scores.shape
    flat = scores.detach().reshape(batch, height * width).double()
    waits = torch.empty(flat.shape, dtype=flat.dtype, device=flat.device)
    number = (flat - waits.exponential_().log()).argmax(dim=1)
    cells = features.reshape(batch, height * width, -1)
    index = number[:, None, None].expand(-1, 1, cells.shape[-1])
    return cells.gather(1, index).squeeze(1), number


def wrong_column_and_row_drawn_apart(scores, features):
    """It draws the row and the column independently, each from its own marginal."""
    batch, height, width = scores.shape
    weights = scores.flatten(1).softmax(-1).view(scores.shape)
    row = torch.multinomial(weights.sum(2), 1)[:, 0]
    column = torch.multinomial(weights.sum(1), 1)[:, 0]
    cells = row * width + column
    return features[torch.arange(batch), row, column], cells


def wrong_uniform_draw(scores, features):
    """It draws every allowed cell with the same probability."""
    flat = scores.flatten(1)
    cells = torch.multinomial((flat > -torch.inf).to(flat.dtype), 1)[:, 0]
    return features.flatten(1, 2)[torch.arange(len(cells)), cells], cells


def wrong_draws_twice(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """Draws once for the context and again for the numbers, so they disagree."""
    weights = torch.softmax(scores.flatten(1), dim=-1)
    rows = torch.arange(len(scores))
    context = features.flatten(1, 2)[rows, torch.multinomial(weights, 1).squeeze(1)]
    return context, torch.multinomial(weights, 1).squeeze(1)


def wrong_exp_overflows(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """Gives multinomial the plain powers, which overflow at scores in the hundreds."""
    cells = torch.multinomial(scores.flatten(1).exp(), 1).squeeze(1)
    rows = torch.arange(len(scores))
    return features.flatten(1, 2)[rows, cells], cells


def wrong_numbers_by_columns(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """Turns the row and column of the drawn cell into row * height + column, not width."""
    height, width = scores.shape[1:]
    weights = torch.softmax(scores.flatten(1), dim=-1)
    drawn = torch.multinomial(weights, 1).squeeze(1)
    row, column = drawn // width, drawn % width
    context = features[torch.arange(len(scores)), row, column]
    return context, row * height + column


def right_race(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """Lets the cells race: the greatest weight over an exponential draw wins."""
    weights = torch.softmax(scores.detach().flatten(1), dim=-1)
    cells = (weights / torch.empty_like(weights).exponential_()).argmax(-1)
    context = features.flatten(1, 2).take_along_dim(cells[:, None, None], 1)
    return context.squeeze(1), cells


def wrong_two_draws_seventh(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """The context comes from one draw and the cells that are returned from another one."""
    weights = torch.softmax(scores.flatten(1), dim=-1)
    rows = torch.arange(len(scores), device=scores.device)
    context = features.flatten(1, 2)[rows, torch.multinomial(weights, 1).squeeze(1)]
    cells = torch.multinomial(weights, 1).squeeze(1)
    return context, cells


def wrong_same_luck_for_all(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """All images share one random number, so images with the same scores draw the same cell."""
    weights = torch.softmax(scores.flatten(1), dim=-1)
    luck = torch.rand(1, dtype=scores.dtype, device=scores.device)
    cells = (weights.cumsum(-1) < luck).sum(-1).clamp_max(weights.shape[1] - 1)
    rows = torch.arange(len(scores), device=scores.device)
    return features.flatten(1, 2)[rows, cells], cells


def wrong_powers_overflow(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """Draws by exp(scores), as multinomial need not sum to 1, but this overflows in float32."""
    weights = scores.flatten(1).exp()
    cells = torch.multinomial(weights, 1).squeeze(1)
    rows = torch.arange(len(scores), device=scores.device)
    return features.flatten(1, 2)[rows, cells], cells


def right_gumbel_seventh(scores: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
    """The largest of scores plus Gumbel noise is a draw by the softmax of the scores."""
    row = scores.detach().flatten(1).double()
    noise = -torch.empty_like(row).exponential_().log()
    cells = (row + noise).argmax(-1)
    context = features.flatten(1, 2).take_along_dim(cells[:, None, None], 1)
    return context.squeeze(1), cells


def wrong_noise_is_not_gumbels(scores, features):
    """The scores less the logarithm of a random number, and the largest of all."""
    flat = scores.flatten(1)
    cells = (flat - torch.rand_like(flat).log()).argmax(1)
    rows = torch.arange(len(cells))
    return features.flatten(1, 2)[rows, cells], cells


def wrong_by_the_root_of_the_weights(scores, features):
    """It draws by the roots of the weights."""
    weights = torch.softmax(scores.flatten(1), -1).sqrt()
    cells = torch.multinomial(weights, 1).squeeze(1)
    rows = torch.arange(len(cells))
    return features.flatten(1, 2)[rows, cells], cells


def wrong_normal_noise(scores, features):
    """The largest of scores with normal noise."""
    flat = scores.flatten(1)
    cells = (flat + torch.randn_like(flat)).argmax(1)
    rows = torch.arange(len(cells))
    return features.flatten(1, 2)[rows, cells], cells
