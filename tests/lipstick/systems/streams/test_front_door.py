"""The package's own names, and the example in its docstring."""

import doctest
import subprocess
import sys

import lipstick.systems.streams


def test_all_names_are_there() -> None:
    for name in lipstick.systems.streams.__all__:
        assert getattr(lipstick.systems.streams, name) is not None


def test_the_docstring_has_an_example_that_runs() -> None:
    result = doctest.testmod(lipstick.systems.streams)
    assert (result.failed, result.attempted > 5) == (0, True)


def test_pyspark_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, lipstick.systems.streams; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
