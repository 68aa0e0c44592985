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
