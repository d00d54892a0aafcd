"""Text, LaTeX and HTML shared by polynomials, expressions and tensors."""

from __future__ import annotations

import html
from collections.abc import Sequence

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LATEX = {
    "\\": r"\backslash ",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "^": r"\hat{\ }",
    "~": r"\sim ",
    " ": r"\ ",
}


def escape_controls(text: str, kept: str = "\n") -> str:
    """Return a text with its control and format characters escaped, except those in `kept`.

    A terminal acts on control characters, and some format characters reorder the displayed text.
    """
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


REPR_TERMS = 20
"""Number of summands that `repr` and the notebook renderings show."""

PRINTED_TERMS = 1_000
"""Number of summands that `str` shows."""


def superscript(exponent: int) -> str:
    """Return ``2`` as ``²``; nothing for 1."""
    return "" if exponent == 1 else str(exponent).translate(_SUPERSCRIPTS)


def latex_text(text: str) -> str:
    """Return text as upright LaTeX inside a formula."""
    return r"\mathrm{" + "".join(_LATEX.get(char, char) for char in text) + "}"


def join_terms(terms: Sequence[str], limit: int | None, empty: str = "0") -> str:
    """Join summands by ``+``; past `limit` the text ends with the number of omitted ones."""
    if not terms:
        return empty
    if limit is None or len(terms) <= limit:
        return " + ".join(terms)
    return " + ".join([*terms[:limit], left_out(len(terms) - limit)])


def left_out(count: int) -> str:
    """Return the words for `count` omitted terms."""
    return f"… ({count} more {'term' if count == 1 else 'terms'})"


def html_code(text: str) -> str:
    """Return text as an HTML code element."""
    return f"<code>{html.escape(text)}</code>"


class Style:
    """The notation of operators and names: plain text or LaTeX."""

    __slots__ = ("latex",)

    def __init__(self, latex: bool) -> None:
        self.latex = latex

    @property
    def dot(self) -> str:
        """The sign of multiplication."""
        return r" \cdot " if self.latex else "·"

    def word(self, text: str) -> str:
        """Return a name or other text."""
        return latex_text(text) if self.latex else text

    def power(self, exponent: int) -> str:
        """Return an exponent; nothing for 1."""
        if self.latex:
            return "" if exponent == 1 else f"^{{{exponent}}}"
        return superscript(exponent)


TEXT = Style(latex=False)
LATEX = Style(latex=True)
