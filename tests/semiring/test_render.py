"""Names in LaTeX, and the package's public names."""

from __future__ import annotations

import semiring
from semiring import semirings
from semiring.support.render import join_terms, latex_text, superscript


def test_latex_escapes():
    """Characters that LaTeX reads are escaped."""
    assert latex_text("a_b{c}%") == r"\mathrm{a\_b\{c\}\%}"


def test_superscript():
    """Exponents above 1 are written as superscripts."""
    assert superscript(1) == ""
    assert superscript(120) == "¹²⁰"


def test_join_terms():
    """Nothing is 0; past the limit the rest is counted."""
    assert join_terms([], None) == "0"
    assert join_terms(["a", "b", "c"], 1) == "a + … (2 more terms)"


def test_public_names():
    """What the package says it exports is there, once."""
    for module in (semiring, semirings):
        assert len(set(module.__all__)) == len(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
    assert semirings.Lineage is semirings.Which
