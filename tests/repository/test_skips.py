"""A test that would be skipped where nothing may be fails, and says what is missing."""

import pytest

from tests.conftest import NO_SKIPS

pytest_plugins = ["pytester"]
TESTS = """
import pytest

@pytest.fixture
def server():
    pytest.skip("PostgreSQL is not installed")

def test_with_a_server(server):
    pass

def test_in_a_sandbox():
    pytest.skip("bubblewrap does not work here")

@pytest.mark.skipif(True, reason="libseccomp is not installed")
def test_of_the_kernel():
    pass

@pytest.mark.skipif(True, reason="needs CUDA")
def test_on_a_gpu():
    pass

@pytest.mark.xfail
def test_that_is_known_to_fail():
    raise ValueError
"""


@pytest.fixture
def some(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with some tests that cannot run, under the rule of these."""
    pytester.makeconftest("from tests.conftest import pytest_runtest_makereport")
    pytester.makepyfile(TESTS)
    return pytester


def test_skips_are_failures_that_name_what_is_missing_but_for_cuda(
    some: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NO_SKIPS, "1")
    result = some.runpytest_inprocess()
    result.assert_outcomes(failed=1, errors=2, skipped=1, xfailed=1)
    said = result.stdout.str()
    for missing in ("PostgreSQL is not", "bubblewrap does not", "libseccomp is not"):
        assert f"{NO_SKIPS} is set, and so nothing may be skipped: {missing}" in said


def test_otherwise_they_are_skips(some: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NO_SKIPS, raising=False)
    some.runpytest_inprocess().assert_outcomes(skipped=4, xfailed=1)
