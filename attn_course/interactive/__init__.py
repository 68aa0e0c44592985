"""Figures that a reader can change in the browser, without a kernel, a server or a network."""

from attn_course.interactive.kernel_regression import kernel_regression_explorer

__all__ = ["kernel_regression_explorer"]
