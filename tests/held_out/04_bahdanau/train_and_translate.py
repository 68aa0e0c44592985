import torch
from torch import nn

from attn_course.bahdanau import BahdanauTranslator
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import BOS, Encoder, sequence_loss


def wrong_fed_what_it_should_say(batches, unseen, vocab_size, max_len):
    """The decoder is fed the target as it is, not moved by one place."""
    model = BahdanauTranslator(Encoder(vocab_size, 64, 64), vocab_size, 64, 64, 64)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        loss = sequence_loss(model(source, target), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return greedy_decode(model, unseen, max_len)


def wrong_returns_inside_the_loop(batches, unseen, vocab_size, max_len):
    """The last line is one indent too deep, so the model learns from the first batch alone."""
    model = BahdanauTranslator(Encoder(vocab_size, 64, 64), vocab_size, 64, 64, 64)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        fed = torch.cat([torch.full_like(target[:, :1], BOS), target[:, :-1]], 1)
        loss = sequence_loss(model(source, fed), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        return greedy_decode(model, unseen, max_len)


def right_by_torch_alone(batches, unseen, vocab_size, max_len):
    """Torch's own cross entropy, NAdam, and gradients that are shortened by hand."""
    model = BahdanauTranslator(Encoder(vocab_size, 64, 64), vocab_size, 64, 64, 64)
    learned = list(model.parameters())
    optimiser = torch.optim.NAdam(learned, lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        fed = nn.functional.pad(target[:, :-1], (1, 0), value=BOS)
        logits = model(source, fed).flatten(0, 1)
        loss = nn.functional.cross_entropy(logits, target.flatten(), ignore_index=0)
        gradients = torch.autograd.grad(loss, learned)
        length = torch.stack([one.square().sum() for one in gradients]).sum().sqrt()
        for parameter, one in zip(learned, gradients, strict=True):
            parameter.grad = one / length.clamp_min(1.0)
        optimiser.step()
    return greedy_decode(model, unseen, max_len)
