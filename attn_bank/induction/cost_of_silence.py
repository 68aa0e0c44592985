"""Part C of problem set 12: the loss that each head of a model saves, found by silencing it."""

from collections.abc import Callable
from functools import cache

import torch
from hintgrader.exercise import Answer, Check, Contract, Exercise, Inputs, Mistakes, then
from torch import Generator, Tensor
from torch.nn import functional

from attn_bank.heads import Heads, random_heads
from attn_course.data.repeats import RepeatBatch
from attn_course.trained.induction import load_induction, unseen

NUM_TEXTS = 8  # of those on which chapter 12 tests its model


def reference(
    model: Heads, tokens: Tensor, again: Tensor, num_layers: int, num_heads: int
) -> Tensor:
    return _rises(_loss)(model, tokens, again, num_layers, num_heads)


def _loss(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens)[again[:, 1:]].mean()


def _losses(logits: Tensor, tokens: Tensor) -> Tensor:
    """The loss of each token but the first, (batch, length - 1)."""
    log_p = logits[:, :-1].log_softmax(-1)
    return -log_p.gather(-1, tokens[:, 1:, None]).squeeze(-1)


def _one_off(scale: Tensor, layer: int, head: int) -> Tensor:
    scale[layer, head] = 0
    return scale


def _rises(
    loss: Callable[[Tensor, Tensor, Tensor], Tensor],
    change: Callable[[Tensor, int, int], Tensor] = _one_off,
    compare: Callable[[Tensor, Tensor], Tensor] = torch.sub,
) -> Answer:
    """The loss after a change of the scales for each head, compared with the loss as it is."""

    def answer(
        model: Heads, tokens: Tensor, again: Tensor, num_layers: int, num_heads: int
    ) -> Tensor:
        every = torch.ones(num_layers, num_heads)
        before = loss(model(tokens, every), tokens, again)
        found = [
            loss(model(tokens, change(every.clone(), layer, head)), tokens, again)
            for layer in range(num_layers)
            for head in range(num_heads)
        ]
        return compare(torch.stack(found), before).view(num_layers, num_heads)

    return answer


def draw_model(
    generator: Generator, num_layers: int, num_heads: int, batch: int, length: int, vocab_size: int
) -> Inputs:
    """A model that has learned nothing; the texts count another number of tokens each."""
    again = (
        torch.rand(batch, length, generator=generator) < torch.linspace(0.2, 0.9, batch)[:, None]
    )
    again[:, 0] = torch.arange(batch) % 2 == 0  # the first token has no prediction
    again[:, -1] = torch.arange(batch) % 2 == 1
    again[:, 2] = True
    return {
        "model": random_heads(generator, vocab_size, 6 * num_heads, num_layers, num_heads),
        "tokens": torch.randint(vocab_size, (batch, length), generator=generator),
        "again": again,
        "num_layers": num_layers,
        "num_heads": num_heads,
    }


def give_trained(generator: Generator, step: int) -> Inputs:
    """The model of chapter 12, as it was after a step of its training, and texts new to it."""
    test = _texts()
    first = int(torch.randint(len(test.tokens) - NUM_TEXTS, (), generator=generator))
    some = slice(first, first + NUM_TEXTS)
    return {
        "model": Heads(load_induction(step), f"the model of chapter 12, after {step} steps"),
        "tokens": test.tokens[some],
        "again": test.again[some],
        "num_layers": 2,
        "num_heads": 1,
    }


@cache
def _texts() -> RepeatBatch:
    return unseen()


mistake = Mistakes()


def _in_place(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    log_p = logits.log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    return -log_p[again].mean()


def _in_place_behind_the_first(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _in_place(logits[:, 1:], tokens[:, 1:], again[:, 1:])


@mistake(computes=_rises(_in_place), also=(_rises(_in_place_behind_the_first),))
def compares_with_the_token_itself():
    """you compare the logits at a token with that token, which the model has read; they predict
    the next one"""


def _backwards(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    log_p = logits[:, 1:].log_softmax(-1)
    return -log_p.gather(-1, tokens[:, :-1, None]).squeeze(-1)[again[:, :-1]].mean()


def _backwards_at_the_place(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    log_p = logits[:, 1:].log_softmax(-1)
    return -log_p.gather(-1, tokens[:, :-1, None]).squeeze(-1)[again[:, 1:]].mean()


@mistake(computes=_rises(_backwards), also=(_rises(_backwards_at_the_place),))
def compares_with_the_token_before():
    """you compare the logits at a token with the token before; they predict the next one"""


def _after_next(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    log_p = logits[:, :-2].log_softmax(-1)
    return -log_p.gather(-1, tokens[:, 2:, None]).squeeze(-1)[again[:, 2:]].mean()


@mistake(computes=_rises(_after_next))
def compares_with_the_token_after_next():
    """you compare the logits at a token with the token two places on; they predict the next one"""


def _where_it_is_said(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens)[again[:, :-1]].mean()


def _where_it_is_said_and_nothing_last(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return functional.pad(_losses(logits, tokens), (0, 1))[again].mean()


@mistake(computes=_rises(_where_it_is_said), also=(_rises(_where_it_is_said_and_nothing_last),))
def counts_one_token_late():
    """you count the loss of the token after each one that `again` marks; `again` marks the token
    that is predicted, so it loses its first column, as the tokens do"""


def _rolled(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    log_p = logits.roll(1, 1).log_softmax(-1).gather(-1, tokens.unsqueeze(-1)).squeeze(-1)
    return -log_p[again].mean()


@mistake(computes=_rises(_rolled), points=1)
def predicts_the_first_from_the_last():
    """you count a loss for the first token, from the logits at the last one, as a shift that comes
    round does; nothing predicts the first token, so leave it out"""


def _picked_first(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return functional.cross_entropy(logits[again][:-1], tokens[again][1:])


def _picked_from_each_text(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    losses = [
        functional.cross_entropy(said[some][:-1], text[some][1:], reduction="none")
        for said, text, some in zip(logits, tokens, again, strict=True)
    ]
    return torch.cat(losses).mean()


@mistake(computes=_rises(_picked_first), also=(_rises(_picked_from_each_text),))
def picks_before_the_shift():
    """you pick the places that `again` marks first, and shift afterwards, so a token is compared
    with the logits at the mark before it, wherever that is; shift first, then pick"""


def _both_marked(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens)[again[:, 1:] & again[:, :-1]].mean()


@mistake(computes=_rises(_both_marked))
def asks_for_two_marks():
    """you count a token only if the one before it is marked as well; `again` marks the token that
    is predicted, wherever its logits stand"""


def _ignoring_zero(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens)[(again & (tokens != 0))[:, 1:]].mean()


def _asking_for_zero(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens * again).mean()


@mistake(computes=_rises(_ignoring_zero), also=(_rises(_asking_for_zero),))
def takes_zero_for_no_token():
    """you treat the number 0 as if it were no token: it is left out where it counts, or asked where
    nothing does; every number is a token. Choose with `again`, or let `cross_entropy` ignore a
    number that is none"""


def _of_all(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens).mean()


@mistake(computes=_rises(_of_all))
def counts_every_token():
    """you count the loss of every token; only those count that `again` marks"""


def _of_the_others(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens)[~again[:, 1:]].mean()


@mistake(computes=_rises(_of_the_others))
def counts_the_other_tokens():
    """you count the tokens that `again` does not mark; those count that it marks"""


def _over_all(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return (_losses(logits, tokens) * again[:, 1:]).mean()


def _over_all_places(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return (_losses(logits, tokens) * again[:, 1:]).sum() / again.numel()


@mistake(computes=_rises(_over_all), also=(_rises(_over_all_places),))
def divides_by_all_tokens():
    """you set the losses that do not count to 0 and divide by the number of all tokens; divide by
    the number of those that count"""


def _with_the_first(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return (_losses(logits, tokens) * again[:, 1:]).sum() / again.sum()


@mistake(computes=_rises(_with_the_first), slip=True, points=1)
def divides_by_the_first_tokens_too():
    """you divide by the number of all marks, including those of first tokens, which nothing
    predicts; the first column of `again` does not count"""


def _text_by_text(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    counted = again[:, 1:]
    return ((_losses(logits, tokens) * counted).sum(-1) / counted.sum(-1)).mean()


@mistake(computes=_rises(_text_by_text))
def averages_text_by_text():
    """you take a mean for each text, and then the mean of these; a text with few tokens that count
    then counts as much as one with many. Take one mean over all tokens that count"""


def _sum(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _losses(logits, tokens)[again[:, 1:]].sum()


def _sum_of_each_text(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return _sum(logits, tokens, again) / len(tokens)


@mistake(computes=_rises(_sum), also=(_rises(_sum_of_each_text),))
def adds_the_losses_up():
    """you add the losses up; their mean is asked, so that it does not depend on how many tokens
    count"""


def _after(loss: Tensor, before: Tensor) -> Tensor:
    return loss


@mistake(computes=_rises(_loss, compare=_after))
def keeps_the_loss_itself():
    """you return the loss without each head; take off the loss of the model as it is"""


@mistake(computes=then(reference, torch.neg))
def subtracts_the_other_way_round():
    """your signs are exchanged: a head that is needed should have a number above 0, the loss
    without it less the loss of the model as it is"""


@mistake(
    computes=_rises(_loss, compare=torch.div),
    also=(_rises(_loss, compare=lambda loss, before: loss / before - 1),),
)
def divides_by_the_loss():
    """you divide by the loss of the model as it is; the difference is asked, in nats"""


@mistake(computes=then(reference, lambda rises: rises / rises.sum()))
def makes_shares():
    """your numbers sum to 1; they are no shares of something, since heads work together. The rise
    itself is asked, in nats"""


def _only(scale: Tensor, layer: int, head: int) -> Tensor:
    kept = torch.zeros_like(scale)
    kept[layer, head] = 1
    return kept


def _against_none(change: Callable[[Tensor, int, int], Tensor]) -> Answer:
    def answer(
        model: Heads, tokens: Tensor, again: Tensor, num_layers: int, num_heads: int
    ) -> Tensor:
        none = _loss(model(tokens, torch.zeros(num_layers, num_heads)), tokens, again)
        return _rises(_loss, change, lambda loss, _: loss - none)(
            model, tokens, again, num_layers, num_heads
        )

    return answer


def _against_the_one_before(loss: Tensor, before: Tensor) -> Tensor:
    return loss - torch.cat([before.view(1), loss[:-1]])


@mistake(
    computes=_against_none(_one_off),
    also=(
        then(_against_none(_one_off), torch.neg),
        _rises(_loss, compare=_against_the_one_before),
    ),
)
def subtracts_another_loss():
    """you take off the loss without any head, or the one that you measured last; take off the loss
    of the model as it is, with all heads on"""


@mistake(computes=_rises(_loss, _only), also=(_against_none(_only),))
def keeps_one_head_alone():
    """you silence all heads but one; silence one, and leave all others as they are"""


def _all_so_far(scale: Tensor, layer: int, head: int) -> Tensor:
    scale.view(-1)[: layer * scale.shape[1] + head + 1] = 0
    return scale


def _layer_so_far(scale: Tensor, layer: int, head: int) -> Tensor:
    scale[layer, : head + 1] = 0
    return scale


@mistake(computes=_rises(_loss, _all_so_far), also=(_rises(_loss, _layer_so_far),))
def never_turns_them_on_again():
    """you silence one head after the other, and the earlier ones stay silent; begin anew with all
    heads on for each"""


def _layer(scale: Tensor, layer: int, head: int) -> Tensor:
    scale[layer] = 0
    return scale


@mistake(computes=_rises(_loss, _layer), points=1)
def silences_the_layer():
    """you silence all heads of a layer together; one at a time is asked, `scale[layer, head] =
    0`"""


def _number(scale: Tensor, layer: int, head: int) -> Tensor:
    scale[:, head] = 0
    return scale


@mistake(computes=_rises(_loss, _number))
def silences_it_in_every_layer():
    """you silence the head of this number in every layer; one at a time is asked, `scale[layer,
    head] = 0`"""


def _half(scale: Tensor, layer: int, head: int) -> Tensor:
    scale[layer, head] = 0.5
    return scale


def _turned(scale: Tensor, layer: int, head: int) -> Tensor:
    scale[layer, head] = -1
    return scale


@mistake(computes=_rises(_loss, _half), also=(_rises(_loss, _turned),))
def leaves_the_head_a_voice():
    """your silent head still adds half of what it would, or takes it off; a silent head adds
    nothing: its number is 0"""


@mistake(computes=then(reference, lambda rises: rises / torch.tensor(2.0).log()))
def counts_in_bits():
    """your numbers are in bits; nats are asked, with the natural logarithm"""


def _mean_of_p(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    return (-_losses(logits, tokens)).exp()[again[:, 1:]].mean()


@mistake(computes=_rises(lambda *given: -_mean_of_p(*given).log()))
def takes_the_log_of_the_mean():
    """you take the logarithm of the mean probability; take the mean of `-log p`, in which a token
    that is thought impossible counts much"""


def _right(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    right = logits[:, :-1].argmax(-1) == tokens[:, 1:]
    return right[again[:, 1:]].float().mean()


@mistake(
    computes=_rises(_mean_of_p),
    also=(
        _rises(lambda *given: -_mean_of_p(*given)),
        _rises(lambda *given: 1 - _mean_of_p(*given)),
        _rises(_right),
        _rises(lambda *given: -_right(*given)),
    ),
)
def compares_probabilities():
    """you compare probabilities, or how often the model is right; the loss is the mean of `-log
    p`"""


def _of_logits(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    said = logits[:, :-1].gather(-1, tokens[:, 1:, None]).squeeze(-1)
    return -said[again[:, 1:]].mean()


@mistake(computes=_rises(_of_logits))
def takes_logits_for_logarithms():
    """you take the logits themselves for logarithms of probabilities; `log_softmax` makes those of
    them"""


def _across_texts(logits: Tensor, tokens: Tensor, again: Tensor) -> Tensor:
    log_p = logits[:, :-1].log_softmax(1)
    return -log_p.gather(-1, tokens[:, 1:, None]).squeeze(-1)[again[:, 1:]].mean()


@mistake(computes=_rises(_across_texts))
def takes_softmax_over_the_places():
    """your softmax runs over the places of a text; the probabilities of all tokens at one place sum
    to 1, so it runs over the last axis"""


@mistake(
    computes=then(reference, lambda rises: rises.mT.contiguous()),
    also=(then(reference, lambda rises: rises.mT.reshape(rises.shape)),),
)
def puts_heads_first():
    """your numbers go through the layers of the first head, then those of the next; the table has a
    row for each layer and a column for each head, `(num_layers, num_heads)`"""


EXERCISE = Exercise(
    function="cost_of_silence",
    reference=reference,
    title="silence one head after another",
    minutes=25,
    axes={"batch": 17, "length": 31, "vocab_size": 19},
    # the model that is given is the grader's own
    may_use=("attn_bank.heads.__call__", "attn_course.induction.forward"),
    contract=Contract(
        exempts={
            "is off by a millionth": "the logits are in float32, which holds as many digits",
            "fills with": "the model masks, and not the answer",
        },
    ),
    checks=(
        Check(
            "the loss without a head, less the loss of the model as it is, for each head of a"
            " model with random weights",
            1.5,
            draw_model,
            tolerance=4096,  # a small difference of two losses has fewer digits than they
            sizes=(
                {"num_layers": 2, "num_heads": 3, "batch": 4, "length": 9, "vocab_size": 7},
                {"num_layers": 3, "num_heads": 1, "batch": 1, "length": 7, "vocab_size": 5},
            ),
            hidden_sizes=(
                {"num_layers": 3, "num_heads": 2, "batch": 5, "length": 8, "vocab_size": 6},
            ),
        ),
        Check(
            "for both heads of the model of chapter 12, while it learns and when it has learned",
            1,
            give_trained,
            tolerance=4096,
            sizes=({"step": 150}, {"step": 500}),
            hidden_sizes=({"step": 200}, {"step": 500}),
            easier=True,
        ),
    ),
    mistakes=mistake.collected,
    equivalent_mutants={
        "model(tokens, scale)[:, :-1] -> model(tokens, scale)": "`gather` goes as far as its index",
        "torch.zeros -> torch.ones": "every number is written",
    }
    | dict.fromkeys(
        (
            "log_p.gather(-1, tokens[:, 1:, None]).squeeze(-1)"
            " -> log_p.gather(-1, tokens[:, 1:, None])",
            "-1 -> 1 (4)",
            "1 -> 2 (5)",
        ),
        "the mean is the same with an axis of length 1 more",
    ),
)
