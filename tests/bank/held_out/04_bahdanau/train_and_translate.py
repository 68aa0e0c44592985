from itertools import cycle, islice

import torch
from torch import Tensor, nn

from attn_course.bahdanau import BahdanauTranslator
from attn_course.data.tokens import Batch
from attn_course.decoding import greedy_decode
from attn_course.seq2seq import BOS, EOS, PAD, Encoder, sequence_loss
from attn_course.training import train


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


width, longest = 64, 1.0


adam = {"lr": 0.01, "betas": (0.9, 0.98)}


def wrong_not_shifted(batches, unseen, vocab_size, max_len):
    """Feeds the target as it is, without a BOS in front, so the decoder learns to repeat the word
    it is given."""
    encoder = Encoder(vocab_size, width, width)
    model = BahdanauTranslator(encoder, vocab_size, width, width, width)
    optimiser = torch.optim.Adam(model.parameters(), **adam)
    for source, target in batches:
        logits = model(source, target)
        loss = sequence_loss(logits, target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), longest)
        optimiser.step()
    return greedy_decode(model, unseen, max_len=max_len)


def wrong_no_bos_fed(batches, unseen, vocab_size, max_len):
    """Cuts the target into target[:, :-1] and target[:, 1:] as if it began with BOS, so the first
    word is never learned."""
    model = BahdanauTranslator(Encoder(vocab_size, width, width), vocab_size, width, width, width)
    optimizer = torch.optim.Adam(model.parameters(), **adam)
    for src, tgt in batches:
        optimizer.zero_grad()
        logits = model(src, tgt[:, :-1])
        loss = sequence_loss(logits, tgt[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return greedy_decode(model, unseen, max_len=max_len)


def wrong_gradients_never_cleared_bos_returned(batches, unseen, vocab_size, max_len):
    """Two mistakes: the gradients are never cleared, and the translations are returned with a BOS
    in front."""
    model = BahdanauTranslator(Encoder(vocab_size, width, width), vocab_size, width, width, width)
    optimiser = torch.optim.Adam(model.parameters(), **adam)
    for source, target in batches:
        bos = torch.full_like(target[:, :1], BOS)
        fed = torch.cat([bos, target[:, :-1]], dim=1)
        loss = sequence_loss(model(source, fed), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    tokens = greedy_decode(model, unseen, max_len=max_len)
    return torch.cat([torch.full_like(tokens[:, :1], BOS), tokens], dim=1)


def right_own_loss_and_decoder(batches, unseen, vocab_size, max_len):
    """At least 250 steps with a falling rate, torch's own cross-entropy, and a greedy decoder that
    feeds its whole beginning anew."""
    model = BahdanauTranslator(Encoder(vocab_size, width, width), vocab_size, width, width, width)
    optimiser = torch.optim.Adam(model.parameters(), **adam)
    total = max(250, len(batches))
    rate = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - 0.9 * step / total)
    for source, target in islice(cycle(batches), total):
        fed = nn.functional.pad(target, (1, -1), value=BOS)
        logits = model(source, fed)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=PAD)
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), longest)
        optimiser.step()
        rate.step()

    said = unseen.new_full((len(unseen), 1), BOS)
    with torch.no_grad():
        for _ in range(max_len):
            word = model(unseen, said)[:, -1:].argmax(-1)
            said = torch.cat([said, word], 1)
            if (said == EOS).any(1).all():
                break
    return said[:, 1:]


def wrong_target_not_shifted(batches, unseen, vocab_size, max_len):
    """It feeds the target as it is, not shifted, so the decoder learns to repeat what it is fed."""
    model = BahdanauTranslator(Encoder(vocab_size, 64, 64), vocab_size, 64, 64, 64)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        loss = sequence_loss(model(source, target), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return greedy_decode(model, unseen, max_len)


def wrong_keeps_the_first_bos(batches, unseen, vocab_size, max_len):
    """It returns the translations with the BOS in front."""
    model = BahdanauTranslator(Encoder(vocab_size, 64, 64), vocab_size, 64, 64, 64)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        fed = torch.cat([torch.full_like(target[:, :1], BOS), target[:, :-1]], 1)
        loss = sequence_loss(model(source, fed), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    said = greedy_decode(model, unseen, max_len)
    return torch.cat([torch.full_like(said[:, :1], BOS), said], 1)


def right_twice_over_the_batches(batches, unseen, vocab_size, max_len):
    """It goes over the batches twice, with a smaller step the second time."""
    model = BahdanauTranslator(Encoder(vocab_size, 64, 64), vocab_size, 64, 64, 64)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for rate in (0.01, 0.003):
        for group in optimiser.param_groups:
            group["lr"] = rate
        for source, target in batches:
            fed = nn.functional.pad(target[:, :-1], (1, 0), value=BOS)
            loss = sequence_loss(model(source, fed), target)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
    with torch.no_grad():
        return greedy_decode(model, unseen, max_len)


WIDTH = 64


def wrong_fed_what_it_should_say_sixth(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Feeds the target as it is, not shifted, so the decoder learns to repeat its input."""
    encoder = Encoder(vocab_size, WIDTH, WIDTH)
    model = BahdanauTranslator(encoder, vocab_size, WIDTH, WIDTH, WIDTH)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        loss = sequence_loss(model(source, target), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return greedy_decode(model, unseen, max_len)


def wrong_cleared_before_the_step(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Clears the gradients between backward and step, so no step changes anything."""
    encoder = Encoder(vocab_size, WIDTH, WIDTH)
    model = BahdanauTranslator(encoder, vocab_size, WIDTH, WIDTH, WIDTH)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        fed = torch.cat([torch.full_like(target[:, :1], BOS), target[:, :-1]], 1)
        loss = sequence_loss(model(source, fed), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.zero_grad()
        optimiser.step()
    return greedy_decode(model, unseen, max_len)


def wrong_softmax_before_the_loss(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Hands the loss probabilities, of which it takes the softmax once more."""
    encoder = Encoder(vocab_size, WIDTH, WIDTH)
    model = BahdanauTranslator(encoder, vocab_size, WIDTH, WIDTH, WIDTH)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))
    for source, target in batches:
        fed = torch.cat([torch.full_like(target[:, :1], BOS), target[:, :-1]], 1)
        loss = sequence_loss(model(source, fed).softmax(-1), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return greedy_decode(model, unseen, max_len)


def right_with_the_loop_of_the_package(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Takes 300 steps round and round, with the loop of attn_course.training."""
    encoder = Encoder(vocab_size, WIDTH, WIDTH)
    model = BahdanauTranslator(encoder, vocab_size, WIDTH, WIDTH, WIDTH)
    examples = []
    for source, target in batches:
        fed = target.roll(1, 1)
        fed[:, 0] = BOS
        examples.append(Batch(source, fed, target))

    def loss(model: nn.Module, batch: Batch) -> Tensor:
        return sequence_loss(model(batch.source, batch.target_input), batch.target_output)

    train(model, cycle(examples), loss, 300, learning_rate=0.01, progress=False)
    return greedy_decode(model, unseen, max_len)


WIDTH_seventh = 64


def new_model(vocab_size: int) -> nn.Module:
    encoder = Encoder(vocab_size, WIDTH_seventh, WIDTH_seventh)
    return BahdanauTranslator(encoder, vocab_size, WIDTH_seventh, WIDTH_seventh, WIDTH_seventh)


def new_adam(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98))


def wrong_target_not_shifted_seventh(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Feeds the target as it is, so that the decoder learns to repeat what it is fed."""
    model = new_model(vocab_size)
    optimiser = new_adam(model)
    for source, target in batches:
        loss = sequence_loss(model(source, target), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return greedy_decode(model, unseen, max_len)


def wrong_gradients_cleared_before_step(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Clears the gradients between backward and step, so that nothing is learned."""
    model = new_model(vocab_size)
    optimiser = new_adam(model)
    for source, target in batches:
        start = torch.full_like(target[:, :1], BOS)
        fed = torch.cat([start, target[:, :-1]], 1)
        loss = sequence_loss(model(source, fed), target)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.zero_grad()
        optimiser.step()
    return greedy_decode(model, unseen, max_len)


def wrong_bos_in_front(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Returns the translations with the BOS in front."""
    model = new_model(vocab_size)
    optimiser = new_adam(model)
    for source, target in batches:
        start = torch.full_like(target[:, :1], BOS)
        fed = torch.cat([start, target[:, :-1]], 1)
        loss = sequence_loss(model(source, fed), target)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    output = torch.full_like(unseen[:, :1], BOS)
    with torch.no_grad():
        for _ in range(max_len):
            logits = model(unseen, output)[:, -1]
            word = logits.argmax(-1, keepdim=True)
            output = torch.cat([output, word], 1)
    return output


def right_with_falling_rate(
    batches: list[tuple[Tensor, Tensor]], unseen: Tensor, vocab_size: int, max_len: int
) -> Tensor:
    """Shifts by padding in front, and lets the learning rate fall step by step."""
    model = new_model(vocab_size)
    optimiser = new_adam(model)
    fade = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.2, len(batches))
    for source, target in batches:
        fed = nn.functional.pad(target[:, :-1], (1, 0), value=BOS)
        optimiser.zero_grad()
        sequence_loss(model(source, fed), target).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        fade.step()
    return greedy_decode(model, unseen, max_len)
