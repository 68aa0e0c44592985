"""Functions of chapters 13 and 14 without a peer, and the test that holds each instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from attn_course import linear_attention, long_context
from attn_course.context import chosen, emptied, pages, reading, rules, scores, tiles

#: By module, the test that holds each function: a loop, a case by hand, or another form.
TESTS: dict[Any, dict[str, str]] = {
    long_context: {
        "rotate_pairs": "test_positions_in_a_row_turn_as_in_chapter_08",
        "CacheSizes": "test_bytes_of_a_cache_are_those_that_a_layer_keeps",
        "SlowMemory": "test_traffic_is_that_of_the_formulas",
        "attend_by_table": "test_tiles_give_what_the_equation_gives",
        "attend_in_tiles": "test_tiles_give_what_the_equation_gives",
    },
    tiles: {
        "logarithm_of_sum": "test_gradients_in_tiles_are_those_of_the_equation",
        "gradients_in_tiles": "test_gradients_in_tiles_are_those_of_the_equation",
        "gradients_by_table": "test_gradients_by_the_table_are_those_of_the_equation",
    },
    rules: {
        "WindowAndSinks": "test_window_and_sinks_by_hand",
        "document_of_each": "test_packed_documents_give_what_they_give_alone",
        "position_within": "test_packed_documents_give_what_they_give_alone",
    },
    scores: {"normalized_scores": "test_normalized_scores_are_cosines_and_know_no_length"},
    chosen: {"chosen_blocks": "test_chosen_blocks_are_the_best_by_a_loop"},
    pages: {
        "PagedMemory": "test_pages_give_back_what_was_put_in_and_are_used_again",
        "tokens_reserved": "test_room_for_tokens_by_hand",
        "tokens_in_pages": "test_room_for_tokens_by_hand",
    },
    emptied: {"hear_without": "test_hearing_all_but_one_key"},
    reading: {
        "read_otherwise": "test_reading_by_the_usual_rules_is_what_the_model_does",
        "write_otherwise": "test_writing_by_the_usual_rules_is_what_the_model_writes",
    },
    linear_attention: {
        "linear_attention": "test_linear_attention_is_attention_"
        "whose_score_is_the_logarithm_of_a_product",
        "elu_features": "test_features_are_those_of_their_formulas",
        "taylor_features": "test_features_are_those_of_their_formulas",
        "random_features": "test_random_features_find_the_exponential_"
        "and_come_closer_with_more_of_them",
        "retained": "test_what_is_retained_is_the_product_of_the_factors_since",
        "add_pair": "test_pairs_are_written_and_read_by_hand",
        "read": "test_pairs_are_written_and_read_by_hand",
        "correct_pair": "test_key_reads_its_value_after_it_has_been_corrected_"
        "and_only_a_share_at_a_smaller_rate",
        "delta_values": "test_delta_rule_is_that_of_loops",
    },
}


def public(module: Any) -> dict[str, Callable[..., Any]]:
    """The functions and classes that a module defines for others."""
    members = inspect.getmembers(module, lambda it: inspect.isfunction(it) or inspect.isclass(it))
    return {
        name: it
        for name, it in members
        if it.__module__ == module.__name__ and not name.startswith("_")
    }


def link(thing: Callable[..., Any]) -> str:
    """A link in Markdown to the page of a function or a class."""
    role = "class" if inspect.isclass(thing) else "func"
    return f"{{py:{role}}}`~{thing.__module__}.{thing.__qualname__}`"


def table() -> str:
    """The table in Markdown: what each test says by its name, and of which functions."""
    rows: dict[str, list[str]] = {}
    for module, tests in TESTS.items():
        for name, test in tests.items():
            says = test.removeprefix("test_").replace("_", " ")
            rows.setdefault(says, []).append(link(public(module)[name]))
    lines = [f"| {', '.join(links)} | {says} |" for says, links in rows.items()]
    return "| ours | what its test says |\n|---|---|\n" + "\n".join(lines)
