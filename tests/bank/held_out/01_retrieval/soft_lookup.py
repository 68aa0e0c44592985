import math

import torch
from torch import Tensor


def wrong_key_capital_t(query, key, value, temperature):
    """It transposes the keys with .T, which turns all axes round where there is a batch."""
    scores = query @ key.T / temperature
    return torch.softmax(scores, dim=-1) @ value


def wrong_temperature_after(query, key, value, temperature):
    """It divides the weights by the temperature, after the softmax."""
    scores = query @ key.transpose(-2, -1)
    weights = torch.softmax(scores, dim=-1) / temperature
    return weights @ value


def wrong_naive_powers(query, key, value, temperature):
    """It takes plain powers without the maximum off, and they overflow to nan."""
    powers = torch.exp(query @ key.mT / temperature)
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ value


def wrong_also_root(query, key, value, temperature):
    """It divides by the root of the width as well as by the temperature."""
    scores = query @ key.mT / (temperature * query.shape[-1] ** 0.5)
    return scores.softmax(-1) @ value


def wrong_multiplied_by_temperature(query, key, value, temperature):
    """It multiplies the scores by the temperature."""
    return torch.softmax(query @ key.mT * temperature, dim=-1) @ value


def right_einsum(query, key, value, temperature):
    """Two einsums, and the softmax as the power of the scores less their logsumexp."""
    scores = torch.einsum("...qd,...kd->...qk", query / temperature, key)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    return torch.einsum("...qk,...kv->...qv", weights, value)


def wrong_temperature_on_both(query, key, value, temperature):
    """Query and key are both divided by the temperature, so the scores by its square."""
    weights = torch.softmax((query / temperature) @ (key / temperature).mT, -1)
    return weights @ value


def wrong_over_queries_and_multiplied(query, key, value, temperature):
    """The softmax runs over the queries, and the temperature multiplies."""
    return torch.softmax(query @ key.mT * temperature, -2) @ value


def wrong_softmax_axis_one(query, key, value, temperature):
    """Takes the softmax over axis 1, which is the keys only where there is no batch axis."""
    scores = query @ key.transpose(-2, -1) / temperature
    weights = torch.softmax(scores, dim=1)
    return weights @ value


def wrong_bmm_one_batch_axis(query, key, value, temperature):
    """Uses bmm, so it works with no or one batch axis but crashes with two."""
    single = query.dim() == 2
    if single:
        query, key, value = query[None], key[None], value[None]
    scores = torch.bmm(query, key.transpose(1, 2)) / temperature
    weights = torch.softmax(scores, dim=-1)
    out = torch.bmm(weights, value)
    return out[0] if single else out


def wrong_times_temperature_no_shift(query, key, value, temperature):
    """Two mistakes: multiplies by the temperature instead of dividing, and takes exp without
    subtracting the maximum."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) * temperature
    raised = torch.exp(scores)
    weights = raised / raised.sum(dim=-1, keepdim=True)
    return torch.einsum("...qk,...kv->...qv", weights, value)


def right_broadcast_sums(query, key, value, temperature):
    """No matrix product: both products are written as broadcast multiplications and sums."""
    scores = (query.unsqueeze(-2) * key.unsqueeze(-3)).sum(-1) / temperature
    weights = scores.log_softmax(-1).exp()
    return (weights.unsqueeze(-1) * value.unsqueeze(-3)).sum(-2)


def wrong_multiplies_by_temperature(query, key, value, temperature):
    """It multiplies the scores by the temperature."""
    return (query @ key.mT * temperature).softmax(-1) @ value


def wrong_temperature_after_softmax(query, key, value, temperature):
    """It divides the weights by the temperature, not the scores."""
    return (query @ key.mT).softmax(-1) / temperature @ value


def wrong_plain_powers(query, key, value, temperature):
    """It raises e to the scores without lowering them first, so large scores give nan."""
    raised = (query @ key.mT / temperature).exp()
    return raised / raised.sum(-1, keepdim=True) @ value


def wrong_softmax_over_queries(query, key, value, temperature):
    """Its softmax runs over the queries, so the weights of a query do not sum to 1."""
    return (query @ key.mT / temperature).softmax(-2) @ value


def wrong_divides_by_root_too(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    """Divides the scores by the root of d_key as well, as scaled attention does."""
    scores = query @ key.mT / (temperature * math.sqrt(query.shape[-1]))
    return torch.softmax(scores, -1) @ value


def wrong_softmax_over_axis_one(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    """Takes the softmax over axis 1, which is the queries once there is a batch axis."""
    scores = query @ key.mT / temperature
    weights = torch.softmax(scores, dim=1)
    return weights @ value


def wrong_temperature_after_softmax_sixth(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    """Divides the weights by the temperature, not the scores."""
    weights = torch.softmax(query @ key.mT, -1) / temperature
    return weights @ value


def right_einsum_sixth(query: Tensor, key: Tensor, value: Tensor, temperature: float) -> Tensor:
    """Names the axes in einsum, and divides by the sum of the powers at the end."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) / temperature
    raised = torch.exp(scores - scores.amax(-1, keepdim=True).detach())
    blend = torch.einsum("...qk,...kv->...qv", raised, value)
    return blend / raised.sum(-1, keepdim=True)


def wrong_softmax_over_axis_1(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    """Softmax over axis 1, which is the keys only where there is no batch axis."""
    scores = query @ key.mT / temperature
    return scores.softmax(1) @ value


def wrong_times_temperature(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    """Multiplies the scores by the temperature instead of dividing."""
    scores = query @ key.mT * temperature
    return scores.softmax(-1) @ value


def wrong_score_by_distance(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    """Scores by the negative squared distance, as chapter 01 does, not by the dot product."""
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)
    scores = -difference.square().sum(-1) / temperature
    return scores.softmax(-1) @ value


def right_divides_at_the_end(
    query: Tensor, key: Tensor, value: Tensor, temperature: float
) -> Tensor:
    """Blends with the powers, and divides the blend by their sum."""
    scores = torch.einsum("...qd,...kd->...qk", query, key) / temperature
    raised = (scores - scores.amax(-1, keepdim=True)).exp()
    return raised @ value / raised.sum(-1, keepdim=True)
