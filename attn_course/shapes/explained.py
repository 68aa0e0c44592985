"""An error from within a layer of PyTorch, said again with the numbers that do not fit."""

from torch import Tensor, nn


def explained(function: str, error: RuntimeError | IndexError) -> Exception | None:
    """Return the error that names the layer whose weights an input does not fit, if one did not.

    It is looked for in the calls that the error came through, from the outside to the inside.
    """
    modules: dict[int, str] = {}
    trace = error.__traceback__
    while trace is not None:
        module, given = trace.tb_frame.f_locals.get("self"), trace.tb_frame.f_locals.get("input")
        if isinstance(module, nn.Module):
            for name, each in module.named_modules():
                modules.setdefault(id(each), name)
            if isinstance(given, Tensor) and (why := _misfit(module, given)):
                name = modules[id(module)] or type(module).__name__
                return type(why)(f"{function}: {name} {why}")
        trace = trace.tb_next
    return None


def _misfit(module: nn.Module, given: Tensor) -> Exception | None:
    """Return why an input does not fit a module of PyTorch; None if it is not this one's fault."""
    weight = next((each for each in module.parameters() if each.is_floating_point()), None)
    if weight is None:
        return None
    if given.dtype != weight.dtype and given.is_floating_point():
        return TypeError(f"has weights of {weight.dtype}, but its input is {given.dtype}")
    if given.device != weight.device:
        return ValueError(f"is on {weight.device}, but its input is on {given.device}")
    if isinstance(module, nn.Embedding):
        outside = given[(given < 0) | (given >= module.num_embeddings)].tolist()
        text = f"has {module.num_embeddings} vectors, but its input holds {outside[:1]}"
        return ValueError(text) if outside else None
    if isinstance(module, nn.LayerNorm):
        width: int | None = module.normalized_shape[-1]
    else:
        sizes = (getattr(module, name, None) for name in ("in_features", "input_size"))
        width = next((size for size in sizes if size is not None), None)
    if width is not None and given.shape[-1:] != (width,):
        return ValueError(
            f"takes vectors of {width} numbers, but its input has shape {tuple(given.shape)}"
        )
    return None
