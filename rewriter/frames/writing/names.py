"""Names of relations and columns in the text that is made of a plan."""

from __future__ import annotations

import re
from collections.abc import Container

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from rewriter.dialect import tokenize

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def identifier(name: str) -> exp.Identifier:
    """Return a name, in backticks unless it is a word without another meaning."""
    plain = _PLAIN.fullmatch(name) is not None and tokenize(name)[0].token_type == TokenType.VAR
    return exp.to_identifier(name, quoted=not plain)


def column(table: str, name: str) -> exp.Column:
    """Return the reference to a column of a relation of FROM."""
    return exp.Column(this=identifier(name), table=identifier(table))


def fresh(name: str, taken: Container[str]) -> str:
    """Return the name, with a number where it is taken; ``taken`` are names in lower case."""
    candidate, number = name, 2
    while candidate.lower() in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
