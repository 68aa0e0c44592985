"""Translators trained for the book, and their recipes: `RECIPES` in `recipes`.

    python -m attn_course.trained bahdanau

trains the three seeds of a recipe, measures them, and writes their record and the weights of the
first seed.
"""
