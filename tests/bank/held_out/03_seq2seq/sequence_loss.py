import torch
from torch import Tensor

from attn_course.seq2seq import EOS, PAD


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


def wrong_mean_of_sentence_means(logits, target_output):
    """Takes the mean of each sentence first, then the mean of those, so words of short sentences
    count more."""
    mask = target_output != PAD
    log_p = torch.log_softmax(logits, dim=-1)
    losses = -log_p.gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    losses = losses.masked_fill(~mask, 0.0)
    per_sentence = losses.sum(1) / mask.sum(1)
    return per_sentence.mean()


def wrong_multiplied_by_mask(logits, target_output):
    """Erases the padding by multiplication with 0, and 0 times nan or infinity is nan."""
    mask = (target_output != PAD).to(logits.dtype)
    log_p = torch.log_softmax(logits, dim=-1)
    loss = -torch.gather(log_p, 2, target_output[:, :, None])[:, :, 0]
    return (loss * mask).sum() / mask.sum()


def wrong_log_of_softmax_without_eos(logits, target_output):
    """Two mistakes: the logarithm of a softmax is infinite for large logits, and EOS is not counted
    as a word."""
    words = (target_output != PAD) & (target_output != EOS)
    p = torch.softmax(logits[words], dim=-1)
    targets = target_output[words]
    right = p[torch.arange(len(targets)), targets]
    return -torch.log(right).mean()


def right_logsumexp_of_shifted(logits, target_output):
    """Picks the words by their coordinates; the loss is the logsumexp of the logits less the logit
    of the target."""
    sentence, place = torch.nonzero(target_output, as_tuple=True)
    said = logits[sentence, place]
    wanted = target_output[sentence, place].unsqueeze(1)
    lead = said - said.take_along_dim(wanted, 1)
    return lead.logsumexp(1).sum() / len(sentence)


def wrong_mean_over_sentences(logits, target_output):
    """It takes the mean of each sentence first, and then the mean of these."""
    real = target_output != 0
    log_p = logits.masked_fill(~real[..., None], 0).log_softmax(-1)
    found = log_p.gather(-1, target_output[..., None])[..., 0] * real
    return (-found.sum(-1) / real.sum(-1)).mean()


def wrong_eos_left_out(logits, target_output):
    """It does not count EOS."""
    real = (target_output != 0) & (target_output != 2)
    log_p = logits.masked_fill(~real[..., None], 0).log_softmax(-1)
    found = log_p.gather(-1, target_output[..., None])[..., 0]
    return -(found * real).sum() / real.sum()


def wrong_divides_by_all_places(logits, target_output):
    """It divides by the number of places, padding included, as the published lines do."""
    real = target_output != 0
    log_p = logits.masked_fill(~real[..., None], 0).log_softmax(-1)
    found = log_p.gather(-1, target_output[..., None])[..., 0]
    return -(found * real).mean()


def wrong_padding_multiplied_by_zero(logits, target_output):
    """It multiplies the losses at the padding by 0, which leaves nan and infinite ones nan."""
    real = target_output != 0
    found = logits.log_softmax(-1).gather(-1, target_output[..., None])[..., 0]
    return -(found * real).sum() / real.sum()


def right_words_in_one_long_row(logits, target_output):
    """The words of all sentences are picked into one long row first."""
    real = target_output != 0
    log_p = logits[real].log_softmax(-1)
    words = target_output[real]
    return -log_p[torch.arange(len(words)), words].mean()


def wrong_padding_times_zero(logits: Tensor, target_output: Tensor) -> Tensor:
    """Multiplies the loss at padding by 0, which leaves nan where the logits are nan."""
    words = target_output != PAD
    log_p = torch.log_softmax(logits, -1)
    loss = -log_p.gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    return (loss * words).sum() / words.sum()


def wrong_logarithm_of_softmax(logits: Tensor, target_output: Tensor) -> Tensor:
    """Takes the logarithm of the softmax: minus infinity where that has become 0."""
    words = target_output != PAD
    p = torch.softmax(logits[words], -1)
    return -p.gather(-1, target_output[words].unsqueeze(-1)).log().mean()


def wrong_end_is_no_word(logits: Tensor, target_output: Tensor) -> Tensor:
    """Leaves out EOS as well as PAD."""
    words = (target_output != PAD) & (target_output != EOS)
    log_p = torch.log_softmax(logits[words], -1)
    return -log_p.gather(-1, target_output[words].unsqueeze(-1)).mean()


def right_over_the_right_word(logits: Tensor, target_output: Tensor) -> Tensor:
    """-log p is the logsumexp of how far each logit lies above the right word's."""
    row, place = (target_output != PAD).nonzero(as_tuple=True)
    at_words = logits[row, place]
    wanted = at_words.gather(-1, target_output[row, place].unsqueeze(-1))
    return (at_words - wanted).logsumexp(-1).sum() / len(row)


def wrong_mean_of_sentence_means_seventh(logits: Tensor, target_output: Tensor) -> Tensor:
    """Means each sentence first: a word of a short sentence counts more."""
    words = target_output != PAD
    logits = logits.masked_fill(~words.unsqueeze(-1), 0)
    index = target_output.unsqueeze(-1)
    log_p = logits.log_softmax(-1).gather(-1, index).squeeze(-1)
    return (-(log_p * words).sum(1) / words.sum(1)).mean()


def wrong_padding_times_zero_seventh(logits: Tensor, target_output: Tensor) -> Tensor:
    """Erases the padding by multiplying by 0, which leaves a nan a nan."""
    words = target_output != PAD
    index = target_output.unsqueeze(-1)
    log_p = logits.log_softmax(-1).gather(-1, index).squeeze(-1)
    return -(log_p * words).sum() / words.sum()


def wrong_end_does_not_count(logits: Tensor, target_output: Tensor) -> Tensor:
    """Leaves EOS out, though the end has to be predicted too."""
    words = (target_output != PAD) & (target_output != EOS)
    log_p = logits[words].log_softmax(-1)
    return -log_p.gather(-1, target_output[words].unsqueeze(-1)).mean()


def right_sentence_by_sentence(logits: Tensor, target_output: Tensor) -> Tensor:
    """Joins the words of all sentences to one long list, and takes its mean."""
    losses = []
    for row, target in zip(logits, target_output):
        places = (target != PAD).nonzero().squeeze(-1)
        log_p = row[places].log_softmax(-1)
        number = torch.arange(len(places), device=places.device)
        losses.append(-log_p[number, target[places]])
    return torch.cat(losses).mean()


def wrong_argmax_is_compared(logits, target_output):
    """The share of wrong guesses is returned, not a loss."""
    mask = target_output != PAD
    return ((logits.argmax(-1) != target_output) & mask).sum() / mask.sum()


def wrong_probabilities_averaged_first(logits, target_output):
    """The logarithm of the mean probability."""
    p = torch.softmax(logits, -1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    mask = target_output != PAD
    return -torch.log((p * mask).sum() / mask.sum())


def wrong_one_more_for_safety(logits, target_output):
    """A small number stands below the logarithm."""
    p = torch.softmax(logits, -1).gather(-1, target_output.unsqueeze(-1)).squeeze(-1)
    mask = target_output != PAD
    return -(torch.log(p + 1e-3) * mask).sum() / mask.sum()
