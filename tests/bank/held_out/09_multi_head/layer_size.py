def wrong_one_bias_a_layer(d_model, num_heads, num_key_heads, bias):
    """It counts one bias for each layer, not one for each output."""
    d_head = d_model // num_heads
    layers = num_heads + 2 * num_key_heads + 1
    numbers = d_model * (2 * d_model + 2 * num_key_heads * d_head)
    return layers, numbers + layers * bias


def wrong_float(d_model, num_heads, num_key_heads, bias):
    """The width of a head is a quotient, and so the count is a float."""
    d_head = d_model / num_heads
    layers = num_heads + 2 * num_key_heads + 1
    return layers, (2 * d_model + 2 * num_key_heads * d_head) * (d_model + bias)


def wrong_nothing_shared(d_model, num_heads, num_key_heads, bias):
    """It counts as many heads of keys and values as of queries."""
    return 3 * num_heads + 1, 4 * d_model * (d_model + bias)


def wrong_no_last_layer(d_model, num_heads, num_key_heads, bias):
    """The layer behind the heads is left out."""
    d_head = d_model // num_heads
    outputs = d_model + 2 * num_key_heads * d_head
    return num_heads + 2 * num_key_heads, outputs * (d_model + bias)


def wrong_last_bias_forgotten(d_model, num_heads, num_key_heads, bias):
    """The layer behind the heads has no bias."""
    d_head = d_model // num_heads
    outputs = d_model + 2 * num_key_heads * d_head
    numbers = outputs * (d_model + bias) + d_model * d_model
    return num_heads + 2 * num_key_heads + 1, numbers


def right_layer_by_layer(d_model, num_heads, num_key_heads, bias):
    """A list with one entry for each layer, added up."""
    d_head = d_model // num_heads
    outputs = [d_head] * num_heads + [d_head] * num_key_heads * 2 + [d_model]
    return len(outputs), sum(n * d_model + (n if bias else 0) for n in outputs)


def wrong_bias_of_full_width(d_model, num_heads, num_key_heads, bias):
    """Counts d_model biases for keys and for values even if they have fewer heads."""
    d_head = d_model // num_heads
    layers = num_heads + 2 * num_key_heads + 1
    numbers = 2 * d_model * d_model + 2 * d_model * num_key_heads * d_head
    if bias:
        numbers += 4 * d_model
    return layers, numbers


def wrong_three_layers_per_query_head(d_model, num_heads, num_key_heads, bias):
    """Counts three small layers for each query head, as if keys and values were not shared."""
    d_head = d_model // num_heads
    outputs = 2 * d_model + 2 * num_key_heads * d_head
    numbers = outputs * (d_model + 1) if bias else outputs * d_model
    return 3 * num_heads + 1, numbers


def wrong_values_forgotten_and_full_keys(d_model, num_heads, num_key_heads, bias):
    """Two mistakes: forgets the layers of the values in the first count, and takes keys and values
    at full width in the second."""
    layers = num_heads + num_key_heads + 1
    per_matrix = d_model * d_model + bias * d_model
    return layers, 4 * per_matrix


def right_list_every_layer(d_model, num_heads, num_key_heads, bias):
    """Writes down the number of outputs of every single layer, and counts the list."""
    d_head = d_model // num_heads
    outputs = [d_head] * num_heads
    outputs += [d_head] * num_key_heads
    outputs += [d_head] * num_key_heads
    outputs.append(d_model)
    inputs = d_model + (1 if bias else 0)
    return len(outputs), sum(out * inputs for out in outputs)


def wrong_counts_four_layers(d_model, num_heads, num_key_heads, bias):
    """It counts four layers, one for each matrix of all heads."""
    d_head = d_model // num_heads
    inner = d_model + 2 * num_key_heads * d_head
    numbers = inner * d_model + d_model**2
    return 4, numbers + (inner + d_model if bias else 0)


def wrong_bias_counts_inputs(d_model, num_heads, num_key_heads, bias):
    """It counts a bias for each input of a layer."""
    d_head = d_model // num_heads
    layers = num_heads + 2 * num_key_heads + 1
    inner = d_model + 2 * num_key_heads * d_head
    return layers, inner * d_model + d_model**2 + (layers * d_model if bias else 0)


def wrong_one_bias_for_each_layer(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """Counts one bias for each layer instead of one for each of its outputs."""
    d_head = d_model // num_heads
    layers = num_heads + 2 * num_key_heads + 1
    outputs = 2 * d_model + 2 * num_key_heads * d_head
    return layers, outputs * d_model + bias * layers


def wrong_wide_key_heads(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """Makes shared key heads wider, d_model / num_key_heads, so that nothing is saved."""
    d_head, d_key_head = d_model // num_heads, d_model // num_key_heads
    layers = num_heads + 2 * num_key_heads + 1
    outputs = num_heads * d_head + 2 * num_key_heads * d_key_head + d_model
    return layers, outputs * (d_model + bias)


def wrong_three_layers_for_each_head(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """Counts three layers for each query head, although some share keys and values."""
    d_head = d_model // num_heads
    outputs = 2 * d_model + 2 * num_key_heads * d_head
    return 3 * num_heads + 1, outputs * (d_model + bias)


def right_list_of_layers(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """Lists the number of outputs of every layer, and counts along the list."""
    small = num_heads + 2 * num_key_heads
    outputs = [d_model // num_heads] * small + [d_model]
    inputs = d_model + 1 if bias else d_model
    return len(outputs), sum(inputs * one for one in outputs)


def wrong_one_bias_for_each_layer_seventh(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """Adds one number for each layer, where a bias is one number for each output."""
    layers = num_heads + 2 * num_key_heads + 1
    d_keys = num_key_heads * d_model // num_heads
    numbers = 2 * d_model * d_model + 2 * d_keys * d_model
    return layers, numbers + (layers if bias else 0)


def wrong_output_layer_not_counted(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """Counts the numbers of the layer behind the heads, but not the layer itself."""
    layers = num_heads + 2 * num_key_heads
    d_keys = num_key_heads * d_model // num_heads
    outputs = d_model + 2 * d_keys + d_model
    return layers, outputs * (d_model + bias)


def wrong_nothing_shared_in_layers(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """The number of layers has keys and values for every head, even where heads share them."""
    layers = 3 * num_heads + 1
    d_keys = num_key_heads * d_model // num_heads
    outputs = d_model + 2 * d_keys + d_model
    return layers, outputs * (d_model + bias)


def right_list_of_widths(
    d_model: int, num_heads: int, num_key_heads: int, bias: bool
) -> tuple[int, int]:
    """Lists the outputs of every single layer, and counts and adds them."""
    small = [d_model // num_heads] * (num_heads + num_key_heads + num_key_heads)
    outputs = [*small, d_model]
    return len(outputs), sum(width * (d_model + int(bias)) for width in outputs)


def wrong_a_head_too_many(d_model, num_heads, num_key_heads, bias):
    """One layer for each head's queries, and one behind; keys and values are forgotten."""
    numbers = 2 * (d_model + d_model // num_heads * num_key_heads) * (d_model + bias)
    return num_heads + 1, numbers


def wrong_a_layer_a_head_and_one(d_model, num_heads, num_key_heads, bias):
    """One layer for each head and one behind, with the numbers of four square ones."""
    return num_heads + 1, 4 * d_model * (d_model + bias)
