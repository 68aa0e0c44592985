import math

import torch
from torch import Tensor


def _look(state, annotations, mask):
    scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    return (weights.unsqueeze(1) @ annotations).squeeze(1)


def wrong_state_before_context(words, annotations, mask, state, w_input, w_state, w_combine):
    """The state comes before the context where the two are joined."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        context = _look(state, annotations, mask)
        fed = torch.tanh(torch.cat([state, context], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_old_state_asks(words, annotations, mask, state, w_input, w_state, w_combine):
    """The state from before the step asks the source."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        context = _look(state, annotations, mask)
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_feeds_the_context(words, annotations, mask, state, w_input, w_state, w_combine):
    """The context is fed, not the attentional state."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        fed = _look(state, annotations, mask)
        steps.append(torch.tanh(torch.cat([fed, state], -1) @ w_combine.mT))
    return torch.stack(steps, 1)


def wrong_fed_detached(words, annotations, mask, state, w_input, w_state, w_combine):
    """The fed state is detached, so no gradient goes back through it."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        joined = torch.cat([word, fed.detach()], -1)
        state = torch.tanh(joined @ w_input.mT + state @ w_state.mT)
        context = _look(state, annotations, mask)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_squeezes_all(words, annotations, mask, state, w_input, w_state, w_combine):
    """A bare squeeze takes away the axis of a batch of one, or of a source of one word."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        scores = torch.bmm(annotations, state.unsqueeze(2)).squeeze()
        weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=1)
        context = torch.bmm(weights.unsqueeze(1), annotations).squeeze()
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_first_fed_the_state(words, annotations, mask, state, w_input, w_state, w_combine):
    """The first step is fed the first state, not zeros."""
    fed, steps = state, []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        context = _look(state, annotations, mask)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def right_in_blocks(words, annotations, mask, state, w_input, w_state, w_combine):
    """The matrices are cut into blocks, so that nothing is joined; einsum does the looking."""
    width = words.shape[-1]
    from_context, from_state = w_combine.chunk(2, dim=1)
    heard = words @ w_input[:, :width].mT
    bias = torch.zeros(mask.shape, dtype=words.dtype).masked_fill(~mask, -torch.inf)
    fed, steps = 0 * state, words.new_empty(len(words), 0, state.shape[-1])
    for t in range(words.shape[1]):
        state = (heard[:, t] + fed @ w_input[:, width:].mT + state @ w_state.mT).tanh()
        weights = (torch.einsum("bsh,bh->bs", annotations, state) + bias).softmax(1)
        context = torch.einsum("bs,bsh->bh", weights, annotations)
        fed = (context @ from_context.mT + state @ from_state.mT).tanh()
        steps = torch.cat([steps, fed[:, None]], 1)
    return steps


def wrong_fed_before_the_word(words, annotations, mask, state, w_input, w_state, w_combine):
    """The fed state comes before the word where the two are joined."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([fed, word], -1) @ w_input.mT + state @ w_state.mT)
        context = _look(state, annotations, mask)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_feeds_the_state_and_state_first(
    words, annotations, mask, state, w_input, w_state, w_combine
):
    """The state is fed, and it comes before the context where the two are joined."""
    steps, fed = [], torch.zeros_like(state)
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        fed = state
        context = _look(state, annotations, mask)
        steps.append(torch.tanh(torch.cat([state, context], -1) @ w_combine.mT))
    return torch.stack(steps, 1)


def wrong_feeds_the_state(words, annotations, mask, state, w_input, w_state, w_combine):
    """Feeds the decoder state back into the cell instead of the attentional state."""
    fed = torch.zeros_like(state)
    outputs = []
    for t in range(words.shape[1]):
        x = torch.cat([words[:, t], fed], dim=-1)
        state = torch.tanh(x @ w_input.T + state @ w_state.T)
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        attentional = torch.tanh(torch.cat([context, state], dim=-1) @ w_combine.T)
        outputs.append(attentional)
        fed = state
    return torch.stack(outputs, dim=1)


def wrong_squeeze_every_axis(words, annotations, mask, state, w_input, w_state, w_combine):
    """Squeezes without naming an axis, so a source of one word or a batch of one sentence loses
    another axis."""
    fed = torch.zeros_like(state)
    steps = []
    for word in words.unbind(1):
        joined = torch.cat([word, fed], -1)
        state = torch.tanh(joined @ w_input.mT + state @ w_state.mT)
        scores = torch.bmm(annotations, state.unsqueeze(-1)).squeeze()
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        context = torch.bmm(weights.unsqueeze(1), annotations).squeeze()
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_order_swapped_scores_times_mask(
    words, annotations, mask, state, w_input, w_state, w_combine
):
    """Two mistakes: joins [state; context] instead of [context; state], and multiplies the scores
    by the mask."""
    batch, target_len, _ = words.shape
    h = state
    h_tilde = state.new_zeros(state.shape)
    result = []
    for t in range(target_len):
        h = torch.tanh(torch.cat((words[:, t, :], h_tilde), dim=1) @ w_input.t() + h @ w_state.t())
        e = torch.einsum("bsd,bd->bs", annotations, h) * mask
        alpha = torch.softmax(e, dim=1)
        c = torch.einsum("bs,bsd->bd", alpha, annotations)
        h_tilde = torch.tanh(torch.cat((h, c), dim=1) @ w_combine.t())
        result.append(h_tilde)
    return torch.stack(result, dim=1)


def right_matrices_cut_in_blocks(words, annotations, mask, state, w_input, w_state, w_combine):
    """Nothing is joined: each matrix is cut in two blocks, and the words' part is computed before
    the loop."""
    d_embedding, d_hidden = words.shape[-1], state.shape[-1]
    for_word, for_fed = w_input.split([d_embedding, d_hidden], 1)
    for_context, for_state = w_combine.split(d_hidden, 1)
    from_words = torch.einsum("btx,hx->tbh", words, for_word)
    hidden = torch.zeros_like(mask, dtype=state.dtype)
    hidden = hidden.masked_fill(~mask, -torch.inf)
    seen = [torch.zeros_like(state)]
    for from_word in from_words:
        state = torch.tanh(from_word + seen[-1] @ for_fed.T + state @ w_state.T)
        weights = torch.einsum("bsh,bh->bs", annotations, state) + hidden
        weights = weights.softmax(-1)
        context = torch.einsum("bs,bsh->bh", weights, annotations)
        seen.append(torch.tanh(context @ for_context.T + state @ for_state.T))
    return torch.stack(seen[1:], 1)


def _decode(words, annotations, mask, state, w_input, w_state, w_combine, fed=None, order=1):
    feed, states = torch.zeros_like(state), []
    for t in range(words.shape[1]):
        pair = [words[:, t], state if fed else feed]
        state = torch.tanh(torch.cat(pair, -1) @ w_input.mT + state @ w_state.mT)
        scores = (annotations @ state[..., None])[..., 0].masked_fill(~mask, -torch.inf)
        context = (scores.softmax(-1)[..., None] * annotations).sum(1)
        feed = torch.tanh(torch.cat([context, state][::order], -1) @ w_combine.mT)
        states.append(feed)
    return torch.stack(states, 1)


def wrong_feeds_the_state_fifth(words, annotations, mask, state, w_input, w_state, w_combine):
    """It feeds the state of the cell, as the published sentence says."""
    return _decode(words, annotations, mask, state, w_input, w_state, w_combine, fed=True)


def wrong_state_before_context_fifth(words, annotations, mask, state, w_input, w_state, w_combine):
    """It joins the state and the context in the other order."""
    return _decode(words, annotations, mask, state, w_input, w_state, w_combine, order=-1)


def wrong_old_state_asks_fifth(words, annotations, mask, state, w_input, w_state, w_combine):
    """The state from before the step asks the source, as in Bahdanau's decoder."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        state = (torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT).tanh()
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        fed = (torch.cat([context, state], -1) @ w_combine.mT).tanh()
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_feeding_starts_with_the_state(
    words, annotations, mask, state, w_input, w_state, w_combine
):
    """It feeds the first state at the first step, where zeros should be fed."""
    fed, steps = state, []
    for word in words.unbind(1):
        state = (torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT).tanh()
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        fed = (torch.cat([context, state], -1) @ w_combine.mT).tanh()
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_old_state_asks_sixth(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Asks the source with the state from before the step, as Bahdanau's decoder does."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(~mask, -math.inf), -1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_state_before_context_sixth(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Joins the state and the context in the other order than the formula."""
    fed, steps = torch.zeros_like(state), []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(~mask, -math.inf), -1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        fed = torch.tanh(torch.cat([state, context], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_first_fed_the_state_sixth(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Feeds the first state of the cell at the first step, where zeros should be fed."""
    fed, steps = state, []
    for word in words.unbind(1):
        state = torch.tanh(torch.cat([word, fed], -1) @ w_input.mT + state @ w_state.mT)
        scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(~mask, -math.inf), -1)
        context = (weights.unsqueeze(1) @ annotations).squeeze(1)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def right_words_multiplied_first(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Cuts both joined weights in two, and multiplies the words before the loop."""
    d_hidden = state.shape[-1]
    for_word, for_fed = w_input[:, :-d_hidden], w_input[:, -d_hidden:]
    for_context, for_state = w_combine.chunk(2, 1)
    from_words = words @ for_word.mT
    fed, steps = torch.zeros_like(state), []
    for step in range(words.shape[1]):
        state = torch.tanh(from_words[:, step] + fed @ for_fed.mT + state @ w_state.mT)
        scores = torch.einsum("bd,bsd->bs", state, annotations)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        context = torch.einsum("bs,bsd->bd", weights, annotations)
        fed = torch.tanh(context @ for_context.mT + state @ for_state.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def look_back(state: Tensor, annotations: Tensor, mask: Tensor) -> Tensor:
    scores = (annotations @ state.unsqueeze(-1)).squeeze(-1)
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return (weights.unsqueeze(1) @ annotations).squeeze(1)


def wrong_context_is_fed(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Feeds the context, not the attentional state that is made from it."""
    fed = torch.zeros_like(state)
    steps = []
    for word in words.unbind(1):
        inputs = torch.cat([word, fed], -1)
        state = torch.tanh(inputs @ w_input.mT + state @ w_state.mT)
        fed = look_back(state, annotations, mask)
        joined = torch.cat([fed, state], -1)
        steps.append(torch.tanh(joined @ w_combine.mT))
    return torch.stack(steps, 1)


def wrong_old_state_asks_seventh(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Looks back before the step, so that the old state asks the source."""
    fed = torch.zeros_like(state)
    steps = []
    for word in words.unbind(1):
        context = look_back(state, annotations, mask)
        inputs = torch.cat([word, fed], -1)
        state = torch.tanh(inputs @ w_input.mT + state @ w_state.mT)
        fed = torch.tanh(torch.cat([context, state], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def wrong_state_before_context_seventh(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Joins state and context in the wrong order for w_combine."""
    fed = torch.zeros_like(state)
    steps = []
    for word in words.unbind(1):
        inputs = torch.cat([word, fed], -1)
        state = torch.tanh(inputs @ w_input.mT + state @ w_state.mT)
        context = look_back(state, annotations, mask)
        fed = torch.tanh(torch.cat([state, context], -1) @ w_combine.mT)
        steps.append(fed)
    return torch.stack(steps, 1)


def right_in_blocks_seventh(
    words: Tensor,
    annotations: Tensor,
    mask: Tensor,
    state: Tensor,
    w_input: Tensor,
    w_state: Tensor,
    w_combine: Tensor,
) -> Tensor:
    """Cuts the weights in blocks, and multiplies all words by theirs before the loop."""
    d_embedding, d_hidden = words.shape[-1], state.shape[-1]
    for_word, for_fed = w_input.split([d_embedding, d_hidden], 1)
    for_context, for_state = w_combine.split(d_hidden, 1)
    from_words = words @ for_word.mT
    fed = torch.zeros_like(state)
    steps = []
    for step in range(words.shape[1]):
        carried = fed @ for_fed.mT + state @ w_state.mT
        state = torch.tanh(from_words[:, step] + carried)
        scores = torch.einsum("bih,bh->bi", annotations, state)
        weights = torch.where(mask, scores, float("-inf")).softmax(-1)
        context = torch.einsum("bi,bih->bh", weights, annotations)
        fed = torch.tanh(context @ for_context.mT + state @ for_state.mT)
        steps.append(fed)
    return torch.stack(steps, 1)
