"""Two versions of a script."""

from __future__ import annotations

from lipstick.systems.scripts import text_provenance
from lipstick.systems.scripts.difference import script_difference

OLD = "import pandas as pd\na = pd.read_csv('in')\nk = 2\nb = a * k\nb.to_csv('out')\nc = len(a)\n"


def test_moving_and_commenting_is_no_difference() -> None:
    new = OLD.replace("k = 2\n", "").replace("a = pd", "# scale\nk = 2\n\na = pd")
    difference = script_difference(text_provenance(OLD), text_provenance(new))
    assert (difference.changed, difference.removed, difference.added) == ((), (), ())
    assert "out" in difference.unchanged


def test_a_constant_changes_what_depends_on_it() -> None:
    difference = script_difference(
        text_provenance(OLD), text_provenance(OLD.replace("k = 2", "k = 3"))
    )
    assert difference.changed == ("b", "k", "out")
    assert "c" in difference.unchanged
    assert [line.text for line in difference.removed] == ["k = 2"]
    assert [line.text for line in difference.added] == ["k = 3"]


def test_what_is_gone_and_new_is_named() -> None:
    difference = script_difference(text_provenance(OLD), text_provenance(OLD + "d = c\n"))
    assert (difference.gone, difference.new) == ((), ("d",))
    assert [line.number for line in difference.added] == [7]
