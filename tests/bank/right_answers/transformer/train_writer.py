"""Right answers to part E: each earns every point."""

import torch
from torch import nn

from attn_course.data.windows import all_windows, drawn_windows
from attn_course.training import train
from attn_course.transformer import LanguageModel, next_token_loss

SIZES = {"d_model": 64, "num_heads": 2, "d_hidden": 256, "num_layers": 2, "context": 64}
SIZES |= {"input_scale": 8.0}


def by_the_loop_of_the_course(text, vocab_size, steps):
    def loss(model, batch):
        return next_token_loss(model(batch.tokens), batch.tokens)

    model = LanguageModel(vocab_size, **SIZES)
    train(model, drawn_windows(text, 65, 16, 3), loss, steps, learning_rate=4e-3, progress=False)
    return model.state_dict()


def by_windows_that_are_shuffled(text, vocab_size, steps):
    model = LanguageModel(vocab_size, **SIZES)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    windows = all_windows(text, 65, 64)
    for chosen in torch.randperm(len(windows)).split(16)[:steps]:
        tokens = windows[chosen]
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.mT, tokens[:, 1:])
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.state_dict()


def by_a_rate_that_falls(text, vocab_size, steps):
    model = LanguageModel(vocab_size, **SIZES)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.95))
    falls = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.1, steps)
    for _ in range(steps):
        begin = torch.randint(len(text) - 65, (24, 1))
        tokens = text[begin + torch.arange(65)]
        loss = next_token_loss(model(tokens), tokens)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falls.step()
    return {name: weight.clone() for name, weight in model.state_dict().items()}


def by_more_steps_than_are_asked(text, vocab_size, steps):
    model = LanguageModel(vocab_size, **SIZES)
    optimiser = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for batch, _ in zip(drawn_windows(text, 65, 16, 1), range(2 * steps), strict=False):
        log_p = model(batch.tokens).log_softmax(-1)[:, :-1]
        loss = -log_p.gather(-1, batch.tokens[:, 1:, None]).mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.1)
        optimiser.step()
    return dict(model.named_parameters())
