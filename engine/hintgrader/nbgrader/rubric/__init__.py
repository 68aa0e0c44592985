"""Rubric items: points and a sentence, made once and clicked for each answer that earns them."""
