"""The changes that the proofs make in a solution: all of them, each under a name of its own."""

from hintgrader.authoring.source_mutants import mutants_of

# the second -1 lies less deep in the tree than the first
TWICE = "def f(x):\n    y = x.exp().sum(-1).exp()\n    return y.amax(-1)\n"


def test_same_change_in_two_places_is_two_mutants_numbered_as_they_are_read():
    mutants = mutants_of(TWICE)
    assert mutants["-1 -> 1"] == TWICE.replace("sum(-1)", "sum(1)").rstrip()
    assert mutants["-1 -> 1 (2)"] == TWICE.replace("amax(-1)", "amax(1)").rstrip()
    assert "-1 -> 1 (3)" not in mutants


def test_no_two_mutants_are_the_same_and_none_is_the_solution():
    sources = [*mutants_of(TWICE).values()]
    assert len({*sources, TWICE.rstrip()}) == len(sources) + 1


def test_what_only_readers_need_is_not_changed():
    plain = "def f(x):\n    return x + 1\n"
    noted = 'def f(x: list[3]) -> dict[4]:\n    """Says 5."""\n    return x + 1\n'
    assert [*mutants_of(noted)] == [*mutants_of(plain)]


def test_a_call_that_is_only_named_is_dropped_once():
    mutants = mutants_of("def f(x):\n    x.add_(1)\n    return x\n")
    dropped = "def f(x):\n    pass\n    return x"
    assert [change for change, text in mutants.items() if text == dropped] == [
        "x.add_(1) -> (dropped)"
    ]
    assert "x.add_(1) -> x" not in mutants
