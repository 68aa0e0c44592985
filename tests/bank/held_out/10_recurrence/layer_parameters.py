def wrong_one_bias(kind, d_model, d_hidden, length):
    """A recurrent pair has a single bias, where PyTorch gives it two."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in gates:
        return gates[kind] * d_hidden * (d_model + d_hidden + 1)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return 2 * d_model * d_hidden + d_hidden + d_model
    return length * d_model


def wrong_two_gates(kind, d_model, d_hidden, length):
    """The GRU is counted with two pairs, its gates, and without what is written."""
    gates = {"rnn": 1, "gru": 2, "lstm": 4}
    if kind in gates:
        return gates[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return 2 * d_model * d_hidden + d_hidden + d_model
    return length * d_model


def wrong_one_for_each_token(kind, d_model, d_hidden, length):
    """The recurrent kinds are counted once for each token, as if unrolled."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in gates:
        return length * gates[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return 2 * d_model * d_hidden + d_hidden + d_model
    return length * d_model


def wrong_three_matrices(kind, d_model, d_hidden, length):
    """Attention is counted without its fourth matrix, for the output."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in gates:
        return gates[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 3 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return 2 * d_model * d_hidden + d_hidden + d_model
    return length * d_model


def wrong_bias_of_the_last_map(kind, d_model, d_hidden, length):
    """Both biases of the feed-forward maps are as long as the hidden width."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in gates:
        return gates[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return 2 * d_model * d_hidden + 2 * d_hidden
    return length * d_model


def right_list_of_maps(kind, d_model, d_hidden, length):
    """Every kind as a list of linear maps, each with its outputs, inputs and biases."""
    pair = [(d_hidden, d_model, 1), (d_hidden, d_hidden, 1)]
    maps = {
        "rnn": pair,
        "gru": pair * 3,
        "lstm": pair * 4,
        "attention": [(d_model, d_model, 1)] * 4,
        "feed-forward": [(d_hidden, d_model, 1), (d_model, d_hidden, 1)],
        "positions": [(length, d_model, 0)],
    }
    return sum(outputs * (inputs + bias) for outputs, inputs, bias in maps[kind])


def wrong_one_bias_in_a_pair(kind, d_model, d_hidden, length):
    """Counts one bias for each pair of matrices; PyTorch has two."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in gates:
        one = d_hidden * d_model + d_hidden * d_hidden + d_hidden
        return gates[kind] * one
    if kind == "attention":
        return 4 * (d_model * d_model + d_model)
    if kind == "feed-forward":
        return d_hidden * (d_model + 1) + d_model * (d_hidden + 1)
    return length * d_model


def wrong_second_bias_of_feed_forward(kind, d_model, d_hidden, length):
    """Gives both maps of the feed-forward part a bias of d_hidden numbers; the way back has
    d_model."""
    pair = d_hidden * (d_model + d_hidden) + 2 * d_hidden
    if kind == "rnn":
        return pair
    elif kind == "gru":
        return 3 * pair
    elif kind == "lstm":
        return 4 * pair
    elif kind == "attention":
        return 4 * d_model * (d_model + 1)
    elif kind == "feed-forward":
        return 2 * (d_model * d_hidden + d_hidden)
    elif kind == "positions":
        return length * d_model


def wrong_gates_only_and_no_bias(kind, d_model, d_hidden, length):
    """Two mistakes: counts only the gates of GRU and LSTM, not what is written, and no biases in
    attention."""
    pair = d_model * d_hidden + d_hidden**2 + 2 * d_hidden
    counts = {
        "rnn": pair,
        "gru": 2 * pair,
        "lstm": 3 * pair,
        "attention": 4 * d_model**2,
        "feed-forward": 2 * d_model * d_hidden + d_hidden + d_model,
        "positions": length * d_model,
    }
    return counts[kind]


def right_table_of_maps(kind, d_model, d_hidden, length):
    """A list of (outputs, inputs, bias) for each kind, added up."""
    pair = [(d_hidden, d_model, 1), (d_hidden, d_hidden, 1)]
    maps = {
        "rnn": pair,
        "gru": pair * 3,
        "lstm": pair * 4,
        "attention": [(d_model, d_model, 1)] * 4,
        "feed-forward": [(d_hidden, d_model, 1), (d_model, d_hidden, 1)],
        "positions": [(d_model, length, 0)],
    }[kind]
    return sum(out * (inputs + bias) for out, inputs, bias in maps)


def _count(kind, d_model, d_hidden, length, biases=2):
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return 2 * d_model * d_hidden + d_hidden + d_model
    if kind == "positions":
        return length * d_model
    gates = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
    return gates * (d_hidden * d_model + d_hidden**2 + biases * d_hidden)


def wrong_one_bias_fifth(kind, d_model, d_hidden, length):
    """It counts one bias vector where PyTorch has two."""
    return _count(kind, d_model, d_hidden, length, biases=1)


def wrong_times_length(kind, d_model, d_hidden, length):
    """It counts a recurrent layer's weights again for every token."""
    found = _count(kind, d_model, d_hidden, length)
    return found * length if kind in ("rnn", "gru", "lstm") else found


def wrong_candidate_forgotten(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Counts the gates alone: 2 in a GRU and 3 in an LSTM, without what is written."""
    pairs = {"rnn": 1, "gru": 2, "lstm": 3}
    if kind in pairs:
        return pairs[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return d_hidden * (d_model + 1) + d_model * (d_hidden + 1)
    return length * d_model


def wrong_one_bias_for_two(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Gives each pair of recurrent matrices one bias, where PyTorch has two."""
    pairs = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in pairs:
        return pairs[kind] * (d_hidden * d_model + d_hidden * d_hidden + d_hidden)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return d_hidden * (d_model + 1) + d_model * (d_hidden + 1)
    return length * d_model


def wrong_bias_of_the_way_back(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Gives both feed-forward maps a bias of d_hidden; the one back has d_model outputs."""
    pairs = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in pairs:
        return pairs[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return 2 * (d_model * d_hidden + d_hidden)
    return length * d_model


def right_list_of_maps_sixth(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Lists inputs and outputs of every linear map of the layer, and counts them."""
    if kind == "positions":
        return length * d_model
    pair = [(d_model, d_hidden), (d_hidden, d_hidden)]
    maps = {
        "rnn": pair,
        "gru": 3 * pair,
        "lstm": 4 * pair,
        "attention": 4 * [(d_model, d_model)],
        "feed-forward": [(d_model, d_hidden), (d_hidden, d_model)],
    }
    return sum((inputs + 1) * outputs for inputs, outputs in maps[kind])


def wrong_one_bias_for_a_pair(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Gives each pair of matrices of a recurrent layer one bias; PyTorch gives it two."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in gates:
        return gates[kind] * d_hidden * (d_model + d_hidden + 1)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return d_hidden * (d_model + 1) + d_model * (d_hidden + 1)
    return length * d_model


def wrong_gates_only(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Counts the gates of GRU and LSTM, and forgets the pair that makes what is written."""
    pairs = {"rnn": 1, "gru": 2, "lstm": 3}
    if kind in pairs:
        return pairs[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return d_hidden * (d_model + 1) + d_model * (d_hidden + 1)
    return length * d_model


def wrong_matrices_for_each_step(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Gives a recurrent layer new matrices for each token, though all steps share them."""
    gates = {"rnn": 1, "gru": 3, "lstm": 4}
    if kind in gates:
        return length * gates[kind] * d_hidden * (d_model + d_hidden + 2)
    if kind == "attention":
        return 4 * d_model * (d_model + 1)
    if kind == "feed-forward":
        return d_hidden * (d_model + 1) + d_model * (d_hidden + 1)
    return length * d_model


def right_list_of_maps_seventh(kind: str, d_model: int, d_hidden: int, length: int) -> int:
    """Lists the maps of each kind as (inputs, outputs), and adds up weights and biases."""
    if kind == "positions":
        return d_model * length
    pair = [(d_model, d_hidden), (d_hidden, d_hidden)]
    maps = {
        "rnn": pair,
        "gru": pair * 3,
        "lstm": pair * 4,
        "attention": [(d_model, d_model)] * 4,
        "feed-forward": [(d_model, d_hidden), (d_hidden, d_model)],
    }
    return sum(inputs * outputs + outputs for inputs, outputs in maps[kind])
