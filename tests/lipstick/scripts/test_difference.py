"""Two versions of a script."""

from __future__ import annotations

from lipstick.scripts import text_provenance
from lipstick.scripts.difference import script_difference

OLD = "import pandas as pd\na = pd.read_csv('in')\nk = 2\nb = a * k\nb.to_csv('out')\nc = len(a)\n"


def test_moving_and_commenting_is_no_difference() -> None:
    new = OLD.replace("k = 2\n", "").replace("a = pd", "# scale\nk = 2\n\na = pd")
    found = script_difference(text_provenance(OLD), text_provenance(new))
    assert (found.changed, found.removed, found.added) == ((), (), ())
    assert "out" in found.unchanged


def test_a_constant_changes_what_depends_on_it() -> None:
    found = script_difference(text_provenance(OLD), text_provenance(OLD.replace("k = 2", "k = 3")))
    assert found.changed == ("b", "k", "out")
    assert "c" in found.unchanged
    assert [line.text for line in found.removed] == ["k = 2"]
    assert [line.text for line in found.added] == ["k = 3"]


def test_what_is_gone_and_new_is_named() -> None:
    found = script_difference(text_provenance(OLD), text_provenance(OLD + "d = c\n"))
    assert (found.gone, found.new) == ((), ("d",))
    assert [line.number for line in found.added] == [7]
