import torch


def wrong_mask_by_product(logits, target_output):
    """It multiplies the losses by the mask, and nan times 0 at the padding is nan."""
    log_p = torch.log_softmax(logits, -1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    words = (target_output != 0).to(logits.dtype)
    return -(log_p * words).sum() / words.sum()


def wrong_end_not_counted(logits, target_output):
    """EOS is left out of the mean, as if it were padding."""
    words = target_output > 2
    log_p = torch.log_softmax(logits[words], -1)
    return -log_p.gather(-1, target_output[words].unsqueeze(-1)).mean()


def wrong_mean_of_sentences(logits, target_output):
    """It takes the mean of each sentence first, so a word of a short sentence counts more."""
    losses = []
    for table, target in zip(logits, target_output, strict=True):
        words = target != 0
        log_p = torch.log_softmax(table[words], -1)
        losses.append(-log_p.gather(-1, target[words].unsqueeze(-1)).mean())
    return torch.stack(losses).mean()


def wrong_log_of_softmax(logits, target_output):
    """It takes the logarithm of the softmax plus 1e-9, which is wrong where p is very small."""
    words = target_output != 0
    p = torch.softmax(logits[words], -1)
    chosen = p[torch.arange(len(p)), target_output[words]]
    return -torch.log(chosen + 1e-9).mean()


def wrong_sum_over_the_batch_size(logits, target_output):
    """It divides the sum by the number of sentences, not by the number of words."""
    words = target_output != 0
    log_p = torch.log_softmax(logits[words], -1)
    total = -log_p.gather(-1, target_output[words].unsqueeze(-1)).sum()
    return total / logits.shape[0]


def wrong_sum(logits, target_output):
    """It returns the sum over the words, not their mean."""
    words = target_output != 0
    log_p = torch.log_softmax(logits[words], -1)
    return -log_p.gather(-1, target_output[words].unsqueeze(-1)).sum()


def right_word_by_word(logits, target_output):
    """A double loop over places, and logsumexp less the logit of the word."""
    losses = []
    for n, t in (target_output != 0).nonzero().tolist():
        row = logits[n, t]
        losses.append(row.logsumexp(0) - row[target_output[n, t]])
    return sum(losses) / len(losses)


def wrong_moved_once_more(logits, target_output):
    """It holds the logits of each place against the word of the next."""
    words = target_output[:, 1:] != 0
    log_p = torch.log_softmax(logits[:, :-1][words], -1)
    return -log_p.gather(-1, target_output[:, 1:][words].unsqueeze(-1)).mean()


def wrong_softmax_twice_and_all_places(logits, target_output):
    """A softmax before log_softmax, and the mean is over all places, padding among them."""
    log_p = torch.log_softmax(torch.softmax(logits, -1), -1)
    losses = -log_p.gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return torch.where(target_output != 0, losses, 0).mean()
