"""Store the weights of captioners in half precision, and read them back."""

from attn_course.captioning import Captioner
from attn_course.trained.captions.recipes import build, find_recipe
from attn_course.trained.store import load_weights, save_weights


def save_captioner(name: str, model: Captioner) -> None:
    """Write the weights of the trial `name`."""
    save_weights(__file__, name, model)


def load_captioner(name: str) -> Captioner:
    """The trained captioner of the trial `name`, in float32 and ready to write.

    Raises:
        ValueError: There is no such trial, or its weights do not come with the course.
    """
    find_recipe(name)
    weights, _ = load_weights(name)
    model = build(name)  # whose first weights are thrown away
    model.load_state_dict(weights)
    return model.eval().requires_grad_(False)
