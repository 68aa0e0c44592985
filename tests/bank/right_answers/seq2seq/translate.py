"""Right answers to part C: each earns every point."""

import torch
from torch.nn import functional

from attn_course.seq2seq import BOS, EOS, PAD


def _linear(inputs, weights, name):
    return functional.linear(inputs, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _gru(inputs, state, weights, name, end=""):
    parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return torch.gru_cell(inputs, state, *(weights[f"{name}.{part}_l0{end}"] for part in parts))


def _read(source, weights):
    """Read as the cell does that is given with the task."""
    embedded, finals = weights["encoder.embedding.weight"][source], []
    for end, order in (("", 1), ("_reverse", -1)):
        known = embedded.new_zeros(
            len(source), weights[f"encoder.recurrent.weight_hh_l0{end}"].shape[1]
        )
        for place in range(source.shape[1])[::order]:
            new = _gru(embedded[:, place], known, weights, "encoder.recurrent", end)
            known = torch.where(source[:, place, None] != PAD, new, known)
        finals.append(known)
    return torch.cat(finals, -1)


def _readout(known, weights):
    return _linear(torch.tanh(_linear(known, weights, "readout.0")), weights, "readout.2")


def talking_on_and_cut(source, weights, max_len):
    c = _read(source, weights)
    state, said = torch.tanh(_linear(c, weights, "bridge")), []
    word = torch.full((len(source),), BOS, device=source.device)
    for _ in range(max_len):
        vector = functional.embedding(word, weights["embedding.weight"])
        state = _gru(torch.cat((vector, c), 1), state, weights, "recurrent.network")
        word = _readout(torch.cat((state, vector, c), 1), weights).argmax(1)
        said.append(word)
    words = torch.stack(said, 1)
    before = (words == EOS).cumsum(1) - (words == EOS).long()
    return torch.where(before == 0, words, PAD)


def sentence_by_sentence(source, weights, max_len):
    rows = []
    for one in source:
        c = _read(one[None], weights)
        state, words = torch.tanh(_linear(c, weights, "bridge")), [BOS]
        while words[-1] != EOS and len(words) <= max_len:
            vector = weights["embedding.weight"][words[-1:]]
            state = _gru(torch.cat([vector, c], -1), state, weights, "recurrent.network")
            logits = _readout(torch.cat([state, vector, c], -1), weights)
            words.append(int(logits[0].argmax()))
        rows.append(words[1:] + [PAD] * (max_len + 1 - len(words)))
    return torch.tensor(rows, device=source.device)


def into_a_row_of_padding(source, weights, max_len):
    c = _read(source, weights)
    state = _linear(c, weights, "bridge").tanh()
    words = torch.full((len(source), max_len + 1), PAD, device=source.device)
    words[:, 0] = BOS
    going_on = torch.ones_like(words[:, 0], dtype=torch.bool)
    for step in range(max_len):
        vector = weights["embedding.weight"][words[:, step]]
        state = _gru(torch.hstack([vector, c]), state, weights, "recurrent.network")
        logits = _readout(torch.hstack([state, vector, c]), weights)
        best = logits.softmax(-1).max(-1).indices
        words[going_on, step + 1] = best[going_on]
        going_on = going_on & (best != EOS)
    return words[:, 1:]


def step_after_step(source, weights, max_len):
    c = _read(source, weights)

    def go_on(word, state, left):
        if not left:
            return []
        vector = weights["embedding.weight"][word]
        state = _gru(torch.cat([vector, c], -1), state, weights, "recurrent.network")
        logits = _readout(torch.cat([state, vector, c], -1), weights)
        over = (word == EOS) | (word == PAD)
        word = torch.where(over, PAD, logits.topk(1).indices[:, 0])
        return [word, *go_on(word, state, left - 1)]

    first = source.new_full((len(source),), BOS)
    return torch.stack(go_on(first, torch.tanh(_linear(c, weights, "bridge")), max_len), -1)
