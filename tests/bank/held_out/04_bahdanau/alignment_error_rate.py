import torch
from torch import Tensor


def _links(weights):
    best = weights.argmax(-1, keepdim=True)
    return torch.zeros_like(weights, dtype=torch.bool).scatter(-1, best, True)


def wrong_mean_of_sentences(weights, sure, possible, target_mask):
    """It takes the mean of the sentences' rates, not one rate of all links together."""
    links = _links(weights) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum((1, 2)) + (links & (sure | possible)).sum((1, 2))
    return (1 - agreed / (links.sum((1, 2)) + sure.sum((1, 2)))).mean().item()


def wrong_padding_linked(weights, sure, possible, target_mask):
    """The rows of padding have links too."""
    links = _links(weights)
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return (1 - agreed / (links.sum() + sure.sum())).item()


def wrong_sure_not_possible(weights, sure, possible, target_mask):
    """It relies on the file to list the sure links among the possible ones."""
    links = _links(weights) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum() + (links & possible).sum()
    return (1 - agreed / (links.sum() + sure.sum())).item()


def wrong_best_target_word(weights, sure, possible, target_mask):
    """It links each source word to the target word that looks at it most."""
    best = weights.argmax(1, keepdim=True)
    links = torch.zeros_like(sure).scatter(1, best, True) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return (1 - agreed / (links.sum() + sure.sum())).item()


def wrong_possible_below(weights, sure, possible, target_mask):
    """It divides by the number of links and of possible links."""
    links = _links(weights) & target_mask.unsqueeze(-1)
    allowed = sure | possible
    agreed = (links & sure).sum() + (links & allowed).sum()
    return (1 - agreed / (links.sum() + allowed.sum())).item()


def right_sets_of_links(weights, sure, possible, target_mask):
    """Sets of Python tuples, as in the formula."""
    best = weights.argmax(-1)
    links = {(b, t, int(best[b, t])) for b, t in target_mask.nonzero().tolist()}
    certain = {tuple(place) for place in sure.nonzero().tolist()}
    allowed = certain | {tuple(place) for place in possible.nonzero().tolist()}
    agreed = len(links & certain) + len(links & allowed)
    return 1 - agreed / (len(links) + len(certain))


def wrong_sure_not_possible_again(weights, sure, possible, target_mask):
    """Takes the possible links as the file has them, without the sure ones."""
    best = weights.argmax(dim=-1, keepdim=True)
    links = torch.zeros_like(sure).scatter(-1, best, True)
    links = links & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum() + (links & possible).sum()
    return 1 - (agreed / (links.sum() + sure.sum())).item()


def wrong_mean_of_sentences_again(weights, sure, possible, target_mask):
    """Computes a rate for each sentence and returns their mean, instead of counting all links
    together."""
    possible = possible | sure
    rates = []
    for b in range(weights.shape[0]):
        links = torch.zeros_like(sure[b])
        for t in range(weights.shape[1]):
            if target_mask[b, t]:
                links[t, weights[b, t].argmax()] = True
        both = (links & sure[b]).sum() + (links & possible[b]).sum()
        rates.append(1 - both / (links.sum() + sure[b].sum()))
    return torch.stack(rates).mean().item()


def wrong_padding_links_counted_once(weights, sure, possible, target_mask):
    """Two mistakes: rows of padding get a link too, and a link that is sure counts once instead of
    twice."""
    source_len = weights.shape[-1]
    best = weights.argmax(-1)
    links = torch.nn.functional.one_hot(best, source_len).bool()
    agreed = (links & (sure | possible)).sum().item()
    return 1 - agreed / (links.sum().item() + sure.sum().item())


def right_sets_of_links_again(weights, sure, possible, target_mask):
    """The formula with Python's own sets of (sentence, target word, source word)."""
    best = weights.argmax(-1).tolist()
    a = {(b, t, best[b][t]) for b, t in target_mask.nonzero().tolist()}
    s = {tuple(link) for link in sure.nonzero().tolist()}
    p = s | {tuple(link) for link in possible.nonzero().tolist()}
    return 1 - (len(a & s) + len(a & p)) / (len(a) + len(s))


def wrong_sure_not_possible_fifth(weights, sure, possible, target_mask):
    """It does not count sure links among the possible ones."""
    index = weights.argmax(-1, keepdim=True)
    found = torch.zeros_like(sure).scatter(-1, index, True) & target_mask[..., None]
    only = possible & ~sure
    hit = (found & sure).sum() + (found & only).sum()
    return 1 - (hit / (found.sum() + sure.sum())).item()


def wrong_mean_of_sentences_fifth(weights, sure, possible, target_mask):
    """It takes the mean of the rates of the sentences."""
    index = weights.argmax(-1, keepdim=True)
    found = torch.zeros_like(sure).scatter(-1, index, True) & target_mask[..., None]
    hit = (found & sure).sum((1, 2)) + (found & (sure | possible)).sum((1, 2))
    return (1 - hit / (found.sum((1, 2)) + sure.sum((1, 2)))).mean().item()


def wrong_padding_is_linked(weights, sure, possible, target_mask):
    """It forgets the mask, so the rows of padding are linked too."""
    found = torch.zeros_like(sure).scatter(-1, weights.argmax(-1, keepdim=True), True)
    hit = (found & sure).sum() + (found & (sure | possible)).sum()
    return 1 - (hit / (found.sum() + sure.sum())).item()


def wrong_divides_by_possible_links(weights, sure, possible, target_mask):
    """It divides by the number of possible links where the sure ones belong."""
    found = torch.zeros_like(sure).scatter(-1, weights.argmax(-1, keepdim=True), True)
    found = found & target_mask[..., None]
    possible = possible | sure
    hit = (found & sure).sum() + (found & possible).sum()
    return 1 - (hit / (found.sum() + possible.sum())).item()


def wrong_possible_as_listed(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Takes the possible links as they are listed, sometimes without the sure ones."""
    best = weights.argmax(-1, keepdim=True)
    links = torch.zeros_like(sure).scatter(-1, best, True) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum() + (links & possible).sum()
    return 1 - (agreed / (links.sum() + sure.sum())).item()


def wrong_link_for_each_source_word(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Links each source word to the target word with the largest weight."""
    words = target_mask.unsqueeze(-1)
    best = weights.masked_fill(~words, 0).argmax(1, keepdim=True)
    links = torch.zeros_like(sure).scatter(1, best, True) & words
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return 1 - (agreed / (links.sum() + sure.sum())).item()


def wrong_mean_of_the_sentences(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Takes the mean of the rates of the sentences, not one rate of all links."""
    best = weights.argmax(-1, keepdim=True)
    links = torch.zeros_like(sure).scatter(-1, best, True) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum((1, 2)) + (links & (sure | possible)).sum((1, 2))
    count = links.sum((1, 2)) + sure.sum((1, 2))
    return (1 - agreed / count).mean().item()


def right_looks_up(weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor) -> float:
    """Looks up what the files say at the link of each word, without a table of links."""
    words = target_mask.nonzero(as_tuple=True)
    best = weights[words].argmax(-1, keepdim=True)
    is_sure = sure[words].gather(-1, best)
    is_possible = possible[words].gather(-1, best) | is_sure
    agreed = int(is_sure.sum()) + int(is_possible.sum())
    return 1 - agreed / (len(best) + int(sure.sum()))


def largest_weights(weights: Tensor) -> Tensor:
    best = weights.argmax(-1, keepdim=True)
    links = torch.zeros_like(weights, dtype=torch.bool)
    return links.scatter(-1, best, True)


def wrong_sure_not_possible_seventh(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Takes the possible links as the file lists them, without the sure ones."""
    links = largest_weights(weights) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum() + (links & possible).sum()
    return 1 - (agreed / (links.sum() + sure.sum())).item()


def wrong_padding_has_links(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Counts a link for the rows of padding too."""
    links = largest_weights(weights)
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return 1 - (agreed / (links.sum() + sure.sum())).item()


def wrong_mean_of_sentences_seventh(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Means the rates of the sentences, where all links should be counted together."""
    links = largest_weights(weights) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum((1, 2))
    agreed = agreed + (links & (sure | possible)).sum((1, 2))
    total = links.sum((1, 2)) + sure.sum((1, 2))
    return (1 - agreed / total).mean().item()


def right_by_looking_up(
    weights: Tensor, sure: Tensor, possible: Tensor, target_mask: Tensor
) -> float:
    """Looks up for each target word whether its link is sure, and whether possible."""
    best = weights.argmax(-1, keepdim=True)
    is_sure = sure.gather(-1, best).squeeze(-1)[target_mask]
    is_possible = possible.gather(-1, best).squeeze(-1)[target_mask]
    agreed = int(is_sure.sum()) + int((is_sure | is_possible).sum())
    return 1 - agreed / (int(target_mask.sum()) + int(sure.sum()))


def wrong_mask_of_the_first(weights, sure, possible, target_mask):
    """The mask of the first sentence holds for all."""
    best = weights.argmax(-1, keepdim=True)
    links = torch.zeros_like(sure).scatter(-1, best, True) & target_mask[0].unsqueeze(-1)
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return 1 - float(agreed / (links.sum() + sure.sum()))


def wrong_one_sure_link_a_word(weights, sure, possible, target_mask):
    """It knows the first of several sure links of a word."""
    best, first = weights.argmax(-1), sure.int().argmax(-1)
    has = sure.any(-1)
    hit = (best == first) & has & target_mask
    could = (sure | possible).gather(-1, best.unsqueeze(-1)).squeeze(-1) & target_mask
    return 1 - float((hit.sum() + could.sum()) / (target_mask.sum() + has.sum()))


def wrong_counts_words_with_a_sure_link(weights, sure, possible, target_mask):
    """The size of S is the number of words that have a sure link."""
    best = weights.argmax(-1, keepdim=True)
    links = torch.zeros_like(sure).scatter(-1, best, True) & target_mask.unsqueeze(-1)
    agreed = (links & sure).sum() + (links & (sure | possible)).sum()
    return 1 - float(agreed / (links.sum() + sure.any(-1).sum()))


def wrong_shadowed_name(weights, sure, possible, target_mask):
    """A loop variable takes the name of an argument."""
    agreed = made = 0
    for weights, real, certain, maybe in zip(weights, target_mask, sure, possible):  # noqa: B020
        for row in range(len(weights)):
            if real[row]:
                best = weights[row].argmax()
                made += 1
                agreed += int(certain[row, best]) + int(certain[row, best] or maybe[row, best])
        weights = weights.argmax()
    return 1 - agreed / (made + float(weights))
