"""The secret of a class, from which hidden inputs are drawn; to know it takes no PyTorch."""

import os

SECRET_VARIABLE = "HINTGRADER_SECRET"
DEFAULT_SECRET = "public"


def hidden_secret() -> str:
    """The secret from which hidden inputs are drawn.

    It is the environment variable `HINTGRADER_SECRET`, which the instructor's nbgrader
    configuration sets. Without it, it is the word "public", as everybody can read here.
    """
    return os.environ.get(SECRET_VARIABLE) or DEFAULT_SECRET
