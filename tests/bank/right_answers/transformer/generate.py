"""Right answers to the second task of part D: each earns every point."""

import torch

from tests.bank.right_answers.transformer.next_token_law import by_comparing_all_pairs, by_scatter


def by_a_generator(model, tokens, number, temperature, top_p, seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(number):
        law = by_scatter(model(tokens)[:, -1], temperature, top_p)
        tokens = torch.cat([tokens, torch.multinomial(law, 1, generator=generator)], dim=1)
    return tokens


def by_the_seed_of_torch(model, tokens, number, temperature, top_p, seed):
    torch.manual_seed(seed)
    text = [*tokens.unbind(1)]
    while len(text) < tokens.shape[1] + number:
        logits = model(torch.stack(text, 1))[:, -1, :]
        law = torch.distributions.Categorical(by_scatter(logits, temperature, top_p))
        text.append(law.sample())
    return torch.stack(text, 1)


def by_sums_and_a_number(model, tokens, number, temperature, top_p, seed):
    """The token in whose share of the law a number from 0 to 1 falls."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(number):
        law = by_comparing_all_pairs(model(tokens)[:, -1].double(), temperature, top_p)
        shares = law.cumsum(-1)
        drawn = torch.rand(len(law), 1, generator=generator, dtype=torch.float64)
        new = torch.searchsorted(shares, drawn * shares[:, -1:], right=True)
        tokens = torch.cat([tokens, new.clamp(max=law.shape[-1] - 1)], 1)
    return tokens


def by_noise_on_the_logarithms(model, tokens, number, temperature, top_p, seed):
    """The largest of the logarithms with noise on them is a draw (the Gumbel distribution)."""
    generator = torch.Generator().manual_seed(seed)
    text = torch.zeros(len(tokens), tokens.shape[1] + number, dtype=torch.long)
    text[:, : tokens.shape[1]] = tokens
    for end in range(tokens.shape[1], text.shape[1]):
        law = by_scatter(model(text[:, :end])[:, -1], temperature, top_p)
        noise = torch.empty_like(law).exponential_(generator=generator).log()
        text[:, end] = (law.log() - noise).argmax(-1)
    return text


def text_by_text(model, tokens, number, temperature, top_p, seed):
    generator, texts = torch.Generator().manual_seed(seed), []
    for text in tokens:
        for _ in range(number):
            logits = model(text.unsqueeze(0))[0, -1]
            if temperature == 0:
                new = logits.argmax().view(1)
            else:
                law = by_scatter(logits, temperature, top_p)
                new = torch.multinomial(law, 1, generator=generator)
            text = torch.cat([text, new])
        texts.append(text)
    return torch.stack(texts)
