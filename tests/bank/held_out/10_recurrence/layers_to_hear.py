import torch
from torch import Tensor


def wrong_looks_the_other_way(allowed):
    """It multiplies on the wrong side of a transposed start: entry (i, j) is how j hears of i."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape).clone()
    hops = torch.where(heard, 0, -1)
    for k in range(1, n):
        new = (allowed.mT.float() @ heard.float()) > 0
        hops[new & (hops == -1)] = k
        heard = heard | new
    return hops


def wrong_forgets_what_it_heard(allowed):
    """It leaves the sum out, so a token keeps only what it has been told in the last layer."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    hops = torch.where(heard, 0, -1)
    for k in range(1, n):
        told = allowed.float() @ heard.float() > 0
        hops[told & ~heard] = k
        heard = told
    return hops


def wrong_diagonal_is_one(allowed):
    """A token that may look at itself needs one layer for that."""
    n = allowed.shape[-1]
    reach = allowed.clone()
    hops = torch.where(allowed, 1, -1)
    for k in range(2, n + 1):
        more = reach | ((reach.float() @ allowed.float()) > 0)
        hops[more & ~reach] = k
        reach = more
    return hops


def wrong_counts_from_zero(allowed):
    """The first layer is number 0, so each entry off the diagonal is one too small."""
    n = allowed.shape[-1]
    heard = torch.eye(n).bool().expand(allowed.shape)
    hops = torch.full(allowed.shape, -1)
    hops = hops.masked_fill(heard, 0)
    for k in range(n):
        new = (allowed.float() @ heard.float()).bool() & ~heard
        hops = hops.masked_fill(new, k)
        heard = heard | new
    return hops


def wrong_squares(allowed):
    """It squares the reach in each round, so the reach doubles with every layer."""
    n = allowed.shape[-1]
    reach = allowed | torch.eye(n, dtype=torch.bool)
    hops = torch.full(allowed.shape, -1)
    hops[reach] = 1
    hops[..., torch.arange(n), torch.arange(n)] = 0
    k = 1
    while True:
        k += 1
        more = (reach.float() @ reach.float()) > 0
        if (more == reach).all():
            return hops
        hops[more & ~reach] = k
        reach = more


def wrong_infinity_for_never(allowed):
    """Floyd and Warshall's way, with infinity for never, in floats."""
    n = allowed.shape[-1]
    d = torch.full(allowed.shape, float("inf"))
    d[allowed] = 1
    d[..., range(n), range(n)] = 0
    for k in range(n):
        d = torch.minimum(d, d[..., :, k, None] + d[..., None, k, :])
    return d


def wrong_zero_for_never(allowed):
    """Tokens that are never heard of are left at 0."""
    n = allowed.shape[-1]
    hops = torch.zeros(allowed.shape, dtype=torch.int64)
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    for k in range(1, n):
        new = (allowed.float() @ heard.float() > 0) & ~heard
        hops[new] = k
        heard = heard | new
    return hops


def wrong_forgets_to_clamp(allowed):
    """It counts ways in float32, which get too many for it."""
    n = allowed.shape[-1]
    step = (allowed | torch.eye(n, dtype=torch.bool)).float()
    ways = torch.eye(n).expand(allowed.shape)
    hops = torch.where(ways > 0, 0, -1)
    for k in range(1, n):
        ways = ways @ step
        hops[(ways > 0) & (hops < 0)] = k
    return hops


def wrong_whole_numbers_of_ways(allowed):
    """It counts ways in whole numbers, which begin anew at zero where they get too large."""
    n = allowed.shape[-1]
    step = allowed.long() + torch.eye(n, dtype=torch.long)
    ways = torch.eye(n, dtype=torch.long) + torch.zeros_like(step)
    hops = ways - 1
    for k in range(1, n):
        ways = step @ ways
        hops[(ways != 0) & (hops == -1)] = k
    return hops


def wrong_ten_layers(allowed):
    """It stops after ten layers."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    hops = torch.where(heard, 0, -1)
    for k in range(1, 11):
        told = allowed.float() @ heard.float() > 0
        hops = torch.where(told & ~heard, k, hops)
        heard = heard | told
    return hops


def wrong_one_text_only(allowed):
    """It knows two axes only."""
    n, _ = allowed.shape
    hops = -torch.ones(n, n, dtype=torch.int64)
    for i in range(n):
        front, k = {i}, 0
        while front:
            for j in front:
                hops[i, j] = k
            k += 1
            front = {j for one in front for j in range(n) if allowed[one, j] and hops[i, j] < 0}
    return hops


def wrong_stops_when_one_text_is_done(allowed):
    """It stops as soon as some text of the batch hears of nobody new."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    hops = torch.where(heard, 0, -1)
    for k in range(1, n):
        new = (allowed.float() @ heard.float() > 0) & ~heard
        if not new.flatten(-2).any(-1).all():
            break
        hops = torch.where(new, k, hops)
        heard = heard | new
    return hops


def wrong_mixes_the_batch(allowed):
    """It merges the masks of a batch, as if any of them were enough."""
    n = allowed.shape[-1]
    step = allowed.reshape(-1, n, n).any(0)
    heard = torch.eye(n, dtype=torch.bool)
    hops = torch.where(heard, 0, -1)
    for k in range(1, n):
        told = step.float() @ heard.float() > 0
        hops = torch.where(told & ~heard, k, hops)
        heard = heard | told
    return hops.expand(allowed.shape).clone()


def wrong_last_time(allowed):
    """It writes each layer over those before, so an entry is the last layer and not the first."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    hops = torch.where(heard, 0, -1)
    for k in range(1, n):
        heard = heard | (allowed.float() @ heard.float() > 0)
        hops = torch.where(heard, k, hops)
    return hops


def wrong_heard_is_returned(allowed):
    """It returns whether a token ever hears of another."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    for _ in range(n):
        heard = heard | (allowed.float() @ heard.float() > 0)
    return heard


def wrong_both_ways(allowed):
    """It takes a look for a line that leads both ways."""
    n = allowed.shape[-1]
    step = (allowed | allowed.mT).double()
    heard = torch.eye(n).double().expand(allowed.shape)
    hops = torch.zeros(allowed.shape).long() - 1
    hops[heard > 0] = 0
    for k in range(1, n):
        told = (step @ heard).clamp(max=1)
        hops[(told > 0) & (hops < 0)] = k
        heard = torch.maximum(heard, told)
    return hops


def wrong_writes_into_the_mask(allowed):
    """It lets each token look at itself in the caller's own mask."""
    n = allowed.shape[-1]
    allowed[..., range(n), range(n)] = True
    reach = torch.eye(n).expand(allowed.shape)
    hops = reach.long() - 1
    for k in range(1, n):
        reach = (allowed.float() @ reach).clamp(0, 1)
        hops[(reach > 0) & (hops < 0)] = k
    return hops


def wrong_floats(allowed):
    """It returns floating-point numbers."""
    n = allowed.shape[-1]
    heard = torch.eye(n).expand(allowed.shape)
    hops = heard - 1
    for k in range(1, n):
        told = (allowed.float() @ heard).clamp(max=1)
        hops = torch.where((told > 0) & (heard == 0), float(k), hops)
        heard = torch.maximum(heard, told)
    return hops


def wrong_one_layer_short(allowed):
    """Its loop ends one layer early, so the longest way is never found."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    hops = heard.long() - 1
    for k in range(1, n - 1):
        told = allowed.float() @ heard.float() > 0
        hops = hops.masked_fill(told & ~heard, k)
        heard = heard | told
    return hops


def wrong_true_forbids(allowed):
    """It takes True for forbidden, as PyTorch's attention does."""
    n = allowed.shape[-1]
    step = ~allowed
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    hops = heard.long() - 1
    for k in range(1, n):
        told = step.float() @ heard.float() > 0
        hops = hops.masked_fill(told & ~heard, k)
        heard = heard | told
    return hops


def wrong_in_the_same_layer(allowed):
    """A token that has just heard tells it on in the same layer, row by row."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape).clone()
    hops = heard.long() - 1
    for k in range(1, n):
        for i in range(n):
            told = (allowed[..., i, :, None] & heard).any(-2)
            new = told & ~heard[..., i, :]
            hops[..., i, :][new] = k
            heard[..., i, :] |= told
    return hops


def wrong_bytes(allowed):
    """It holds the numbers of layers in eight bits, which end at 127."""
    n = allowed.shape[-1]
    heard = torch.eye(n, dtype=torch.bool).expand(allowed.shape)
    hops = heard.to(torch.int8) - 1
    for k in range(1, n):
        told = allowed.float() @ heard.float() > 0
        hops[told & ~heard] = k
        heard = heard | told
    return hops.long()


def right_text_by_text(allowed: Tensor) -> Tensor:
    """Each mask by itself, each token by a queue."""
    n = allowed.shape[-1]
    found = []
    for mask in allowed.reshape(-1, n, n).tolist():
        looks = [[j for j, may in enumerate(row) if may] for row in mask]
        for start in range(n):
            hops, queue = [-1] * n, [start]
            hops[start] = 0
            for one in queue:
                for other in looks[one]:
                    if hops[other] < 0:
                        hops[other] = hops[one] + 1
                        queue.append(other)
            found.append(hops)
    return torch.tensor(found).reshape(allowed.shape)


def right_floyd_and_warshall(allowed):
    """Ways through the tokens 0 to k, one k after the other, with n for never until the end."""
    n = allowed.shape[-1]
    d = torch.where(allowed, 1, n)
    d.diagonal(dim1=-2, dim2=-1).fill_(0)
    for k in range(n):
        d = torch.minimum(d, d[..., :, k : k + 1] + d[..., k : k + 1, :])
    return torch.where(d < n, d, -1)


def right_counts_layers_without(allowed):
    """An entry is the number of layers after which it has not been heard yet."""
    n = allowed.shape[-1]
    step = (allowed | torch.eye(n, dtype=torch.bool)).float()
    heard, without = torch.eye(n).expand(allowed.shape), torch.zeros(allowed.shape).long()
    for _ in range(n):
        without += (heard == 0).long()
        heard = (step @ heard > 0).float()
    return without.masked_fill(heard == 0, -1)


def right_until_nothing_is_new(allowed):
    """It goes on until a layer brings nothing new."""
    heard = torch.zeros_like(allowed)
    heard.diagonal(dim1=-2, dim2=-1).fill_(True)
    hops, k = torch.where(heard, 0, -1), 0
    while True:
        k += 1
        now = heard | (torch.matmul(allowed.double(), heard.double()) > 0)
        if torch.equal(now, heard):
            return hops
        hops, heard = torch.where(now & ~heard, k, hops), now
