"""Part C of problem set 11: the loss of a text, whose tokens are their own answers."""

from collections.abc import Callable

import torch
from hintgrader.exercise import Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.draws import draw_normal


def reference(logits: Tensor, tokens: Tensor) -> Tensor:
    return _losses(logits[:, :-1], tokens[:, 1:]).mean()


def _losses(logits: Tensor, tokens: Tensor) -> Tensor:
    """The value of `-log p` of each token."""
    return -logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)


def draw_texts(generator: Generator, batch: int, length: int, vocab_size: int) -> Inputs:
    """Tokens of which many are 0, as good a token as any."""
    inputs = draw_after_zero(generator, batch, length, vocab_size)
    zero = torch.rand(batch, length, generator=generator) < 0.3
    return inputs | {"tokens": inputs["tokens"].masked_fill(zero, 0)}


def draw_after_zero(
    generator: Generator, batch: int, length: int, vocab_size: int, spread: float = 2.0
) -> Inputs:
    """Tokens from 1 on, and logits `spread` wide."""
    return {
        "logits": spread * draw_normal(generator, batch, length, vocab_size),
        "tokens": torch.randint(1, vocab_size, (batch, length), generator=generator),
    }


def draw_odd_logits(generator: Generator, loud: int, **sizes: int) -> Inputs:
    """Logits in the hundreds, or none at all: infinite ones, at the last token."""
    inputs = draw_after_zero(generator, spread=500.0 if loud else 2.0, **sizes)
    if not loud:
        inputs["logits"][:, -1] = torch.inf
    return inputs


mistake = Mistakes()


@mistake
def compares_with_the_token_itself(logits, tokens):
    """you compare the logits at each token with the token itself, which the model has read; what
    follows it is the answer: the logits without the last, `logits[:, :-1]`, with the tokens without
    the first, `tokens[:, 1:]`"""
    return _losses(logits, tokens).mean()


def _cut_both_behind(logits: Tensor, tokens: Tensor) -> Tensor:
    return _losses(logits[:, :-1], tokens[:, :-1]).mean()


def _cut_both_in_front(logits: Tensor, tokens: Tensor) -> Tensor:
    return _losses(logits[:, 1:], tokens[:, 1:]).mean()


@mistake(also=(_cut_both_in_front,))
def cuts_both_alike(logits, tokens):
    """you cut logits and tokens at the same end, so each token is still compared with what the
    model says having read it; cut the logits behind and the tokens in front"""
    return _cut_both_behind(logits, tokens)


def _roll_the_other_way(logits: Tensor, tokens: Tensor) -> Tensor:
    return _losses(logits, tokens.roll(1, 1)).mean()


@mistake(also=(_roll_the_other_way,))
def shifts_the_other_way(logits, tokens):
    """your shift goes the wrong way: the logits at each token are compared with the token before
    it; they are about the one behind it"""
    return _losses(logits[:, 1:], tokens[:, :-1]).mean()


def _shift_twice_from_the_front(logits: Tensor, tokens: Tensor) -> Tensor:
    return _losses(logits[:, 1:-1], tokens[:, 2:]).mean()


@mistake(also=(_shift_twice_from_the_front,))
def shifts_by_two(logits, tokens):
    """you shift by two places: the logits at a token are about the next one, not the one after
    that"""
    return _losses(logits[:, :-2], tokens[:, 2:]).mean()


@mistake
def goes_round_the_end(logits, tokens):
    """you compare what comes after the last token with the first of the same text, as `roll` does;
    nothing is known of what comes after the last, so it has no loss"""
    return _losses(logits, tokens.roll(-1, 1)).mean()


@mistake
def goes_on_into_the_next_text(logits, tokens):
    """you make one long row of all texts and shift that, so the last logits of a text are compared
    with the first token of the next one; shift along the axis of the length, then flatten"""
    return _losses(logits.flatten(0, 1)[:-1], tokens.flatten()[1:]).mean()


@mistake
def takes_zero_for_what_follows(logits, tokens):
    """you put a 0 behind the last token, and the model is asked to say it; the last logits have no
    answer, so leave them out"""
    return _losses(logits, functional.pad(tokens[:, 1:], (0, 1))).mean()


@mistake
def mixes_the_axes(logits, tokens):
    """you bring the vocabulary to the second axis by `reshape` or `view`, which keep the numbers in
    their order and mix places with tokens; exchange the axes, `transpose(1, 2)`, or flatten batch
    and length together"""
    said = logits[:, :-1]
    return functional.cross_entropy(said.reshape(said.mT.shape), tokens[:, 1:])


@mistake
def asks_the_last_token_alone(logits, tokens):
    """your loss is about the last token of each text alone; all but the first are asked for"""
    return _losses(logits[:, -2:-1], tokens[:, -1:]).mean()


@mistake
def shifts_the_texts(logits, tokens):
    """you shift along the axis of the batch, and compare each text with the next one; the axis of
    the length is the second"""
    return _losses(logits[:-1], tokens[1:]).mean()


@mistake
def adds_up(logits, tokens):
    """you return the sum; divide it by the number of tokens that it is about"""
    return _losses(logits[:, :-1], tokens[:, 1:]).sum()


@mistake
def divides_by_all_tokens(logits, tokens):
    """you divide by the number of all tokens; the first of each text has no loss, so there is one
    fewer in each"""
    return _losses(logits[:, :-1], tokens[:, 1:]).sum() / tokens.numel()


@mistake
def divides_by_the_texts(logits, tokens):
    """you divide the sum by the number of texts, so long texts look worse; divide by the number of
    tokens that it is about"""
    return _losses(logits[:, :-1], tokens[:, 1:]).sum(1).mean()


@mistake
def returns_a_loss_for_each_text(logits, tokens):
    """you return a number for each text; one is asked for, the mean over all"""
    return _losses(logits[:, :-1], tokens[:, 1:]).mean(1)


@mistake
def returns_a_loss_for_each_token(logits, tokens):
    """you return a number for each token; one is asked for, their mean"""
    return _losses(logits[:, :-1], tokens[:, 1:])


def _ignore_zero_and_count_it(logits: Tensor, tokens: Tensor) -> Tensor:
    answers = tokens[:, 1:]
    return (_losses(logits[:, :-1], answers) * (answers != 0)).mean()


def _ignore_what_follows_zero(logits: Tensor, tokens: Tensor) -> Tensor:
    return _losses(logits[:, :-1], tokens[:, 1:])[tokens[:, :-1] != 0].mean()


@mistake(points=1.5, also=(_ignore_zero_and_count_it, _ignore_what_follows_zero))
def leaves_out_a_token(logits, tokens):
    """you leave the tokens with the number 0 out, or what follows them; nothing here is padding,
    and 0 is a token as good as any"""
    answers = tokens[:, 1:]
    return _losses(logits[:, :-1], answers)[answers != 0].mean()


def _smooth(share: float) -> Callable[..., Tensor]:
    def answer(logits: Tensor, tokens: Tensor) -> Tensor:
        said, answers = logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten()
        return functional.cross_entropy(said, answers, label_smoothing=share)

    return answer


@mistake(computes=_smooth(0.1), also=tuple(_smooth(share) for share in (0.01, 0.05, 0.2)))
def smooths_the_answers():
    """your loss is that of smoothed answers, in which a share of each goes to all other tokens; the
    next token alone is asked for, so leave `label_smoothing` at 0"""


@mistake
def takes_the_softmax_twice(logits, tokens):
    """you take a softmax of probabilities: `cross_entropy` and `log_softmax` want the logits
    themselves"""
    return reference(logits.softmax(-1), tokens)


@mistake
def takes_logits_for_logarithms(logits, tokens):
    """you take the logits for logarithms of probabilities, and those would be at most 0; a
    `log_softmax` over the vocabulary makes them so, or leave it all to `cross_entropy`"""
    return -logits[:, :-1].gather(-1, tokens[:, 1:, None]).mean()


@mistake
def takes_the_softmax_over_the_length(logits, tokens):
    """your softmax runs over the places of a text; it should run over the vocabulary"""
    log_p = logits[:, :-1].log_softmax(1)
    return -log_p.gather(-1, tokens[:, 1:, None]).mean()


@mistake(computes=then(reference, lambda loss: -loss))
def forgets_the_sign():
    """your loss is below 0: it is `-log p`"""


@mistake(computes=then(reference, lambda loss: loss / torch.log(torch.tensor(2.0))))
def counts_bits():
    """you return bits; the natural logarithm is asked for"""


@mistake(computes=then(reference, torch.exp))
def returns_the_perplexity():
    """you return the power of the loss, which is called perplexity; return the loss itself"""


def _mean(of: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    def answer(logits: Tensor, tokens: Tensor) -> Tensor:
        return of(_losses(logits[:, :-1], tokens[:, 1:]).neg().exp())

    return answer


@mistake(
    computes=_mean(lambda p: 1 - p.mean()), also=(_mean(lambda p: -p.mean()), _mean(torch.mean))
)
def forgets_the_logarithm():
    """you take the mean of the probabilities; take that of `-log p`"""


@mistake(computes=_mean(lambda p: -p.mean().log()))
def averages_before_the_logarithm():
    """you take the logarithm of the mean probability; take the mean of the logarithms"""


@mistake(points=2)
def takes_powers_as_they_are(logits, tokens):
    """you take the powers of the logits as they are, or a logarithm of 0; `log_softmax` and
    `cross_entropy` take the largest off first"""
    powers = logits[:, :-1].exp()
    p = powers.gather(-1, tokens[:, 1:, None]).squeeze(-1) / powers.sum(-1)
    return -p.log().mean()


def _log_of_softmax(
    least: Callable[[Tensor, float], Tensor], little: float = 0.0
) -> Callable[..., Tensor]:
    def answer(logits: Tensor, tokens: Tensor) -> Tensor:
        p = logits[:, :-1].softmax(-1).gather(-1, tokens[:, 1:, None])
        return -least(p, little).log().mean()

    return answer


@mistake(
    points=2,
    also=tuple(
        _log_of_softmax(least, 10.0**-digits)
        for digits in (6, 7, 8, 9, 10, 12, 15, 20)
        for least in (torch.add, torch.clamp)
    ),
)
def takes_the_logarithm_of_a_softmax(logits, tokens):
    """you take the logarithm of a softmax, which may be 0, and to add something makes it another
    loss; `log_softmax` and `cross_entropy` never come to a logarithm of 0"""
    return _log_of_softmax(torch.add)(logits, tokens)


@mistake(points=2)
def asks_the_last_logits(logits, tokens):
    """what stands behind the last token enters your loss, if only to be multiplied by 0; leave it
    out: `logits[:, :-1]`"""
    losses = _losses(logits, tokens.roll(-1, 1))
    counts = torch.ones_like(losses)
    counts[:, -1] = 0
    return (losses * counts).sum() / counts.sum()


EXERCISE = Exercise(
    function="next_token_loss",
    reference=reference,
    title="one shift, and a test that finds a leak",
    minutes=15,
    axes={"batch": 17, "length": 43, "vocab_size": 97},
    contract=Contract(batch=("logits", "tokens"), like=1),
    checks=(
        Check(
            "it is the mean of `-log p` of all tokens but the first of each text, where the logits"
            " at the token before give p",
            1.5,
            draw_texts,
            sizes=(
                {"batch": 3, "length": 7, "vocab_size": 11},
                {"batch": 2, "length": 5, "vocab_size": 5},
            ),
            hidden_sizes=(
                {"batch": 5, "length": 3, "vocab_size": 13},
                {"batch": 7, "length": 11, "vocab_size": 7},
            ),
        ),
        Check(
            "logits in the hundreds give no infinite loss, and what the model says after the last"
            " token has no part in it",
            0.5,
            draw_odd_logits,
            sizes=(
                {"batch": 3, "length": 7, "vocab_size": 5, "loud": 1},
                {"batch": 2, "length": 3, "vocab_size": 7, "loud": 0},
            ),
            hidden_sizes=(
                {"batch": 2, "length": 5, "vocab_size": 11, "loud": 1},
                {"batch": 3, "length": 5, "vocab_size": 5, "loud": 0},
            ),
        ),
        Check(
            "the right gradient reaches `logits`",
            0.5,
            draw_after_zero,
            sizes=({"batch": 2, "length": 5, "vocab_size": 7},),
            hidden_sizes=({"batch": 3, "length": 7, "vocab_size": 5},),
            gradient=("logits",),
        ),
    ),
    mistakes=mistake.collected,
)
