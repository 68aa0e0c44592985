"""Reference implementations of the attention mechanism, one module per chapter of the course."""

__version__ = "1.0.0"
