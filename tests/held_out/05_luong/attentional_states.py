import torch


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
    """What is fed is detached, so no gradient goes back through it."""
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
    """What is fed stands before the word where the two are joined."""
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
