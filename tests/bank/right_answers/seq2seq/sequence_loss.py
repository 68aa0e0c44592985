"""Right answers to part A: each earns every point."""

import torch


def by_choosing_words(logits, target_output):
    words = target_output != 0
    log_p = logits[words].log_softmax(-1)
    return -log_p.gather(-1, target_output[words].unsqueeze(-1)).mean()


def by_where_and_two_sums(logits, target_output):
    words = target_output.ne(0)
    log_p = torch.log_softmax(logits, dim=-1)
    chosen = torch.take_along_dim(log_p, target_output[..., None], dim=-1)[..., 0]
    return -torch.where(words, chosen, 0.0).sum() / words.sum()


def by_loops(logits, target_output):
    total, number = logits.new_zeros(()), 0
    for sentence, words in zip(logits, target_output, strict=True):
        for scores, word in zip(sentence, words.tolist(), strict=True):
            if word:
                total = total + scores.logsumexp(-1) - scores[word]
                number += 1
    return total / number


def by_one_hot(logits, target_output):
    words = target_output > 0
    flat = logits[words]
    one_hot = torch.eye(logits.shape[-1], dtype=flat.dtype, device=flat.device)
    chosen = torch.einsum("nv,nv->n", flat, one_hot[target_output[words]])
    return (torch.logsumexp(flat, -1) - chosen).mean()


def by_subtracting_the_largest(logits, target_output):
    words = target_output.flatten() != 0
    flat = logits.reshape(-1, logits.shape[-1])[words]
    flat = flat - flat.max(-1, keepdim=True).values
    right = flat[torch.arange(len(flat)), target_output.flatten()[words]]
    return (flat.exp().sum(-1).log() - right).mean()


def by_double_precision_inside(logits, target_output):
    return by_choosing_words(logits.double(), target_output).to(logits.dtype)
