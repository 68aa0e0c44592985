"""Right answers to part C's test: each earns every point."""

import torch


def by_a_loop(model, vocab_size, length, trials):
    for _ in range(trials):
        tokens = torch.randint(vocab_size, (1, length))
        place = int(torch.randint(1, length, ()))
        changed = tokens.clone()
        changed[:, place:] = torch.randint(vocab_size, (1, length - place))
        before, after = model(tokens)[:, :place], model(changed)[:, :place]
        if (before - after).abs().max() > 1e-4 * before.abs().max():
            return True
    return False


def by_the_neighbour_alone(model, vocab_size, length, trials):
    found = False
    for trial in range(trials):
        place = 1 + trial % (length - 1)
        tokens = torch.randint(0, vocab_size, (1, length))
        others = torch.cat(
            [tokens[:, :place], torch.randint(0, vocab_size, (1, length - place))], 1
        )
        one, other = model(tokens)[0, place - 1], model(others)[0, place - 1]
        found = found or bool((one - other).abs().max() > 1e-4 * one.abs().max())
    return found


def by_a_batch_of_two(model, vocab_size, length, trials):
    for _ in range(trials):
        place = torch.randint(1, length, ()).item()
        both = torch.randint(vocab_size, (1, length)).repeat(2, 1)
        both[1, place:] = (both[1, place:] + torch.randint(1, vocab_size, (length - place,))) % (
            vocab_size
        )
        one, other = model(both)[:, :place].unbind()
        if not (one - other).abs().amax() <= 1e-4 * torch.maximum(one.abs(), other.abs()).amax():
            return True
    return False


def by_one_token_at_a_time(model, vocab_size, length, trials):
    differ = []
    for _ in range(trials):
        tokens = torch.randint(vocab_size, (1, length))
        place = int(torch.randint(1, length, ()))
        logits = model(tokens)[0, :place]
        changed = tokens.clone()
        changed[0, place] = torch.randint(vocab_size, ())
        gap = (model(changed)[0, :place] - logits).norm(torch.inf)
        differ.append(gap.item() > 1e-4 * logits.norm(torch.inf).item())
    return any(differ)


def by_the_text_that_stops_at_the_place(model, vocab_size, length, trials):
    for _ in range(trials):
        tokens = torch.randint(vocab_size, (1, length))
        place = int(torch.randint(1, length, ()))
        whole, short = model(tokens)[:, :place], model(tokens[:, :place])
        if (whole - short).abs().max() > 1e-4 * whole.abs().max():
            return True
    return False
