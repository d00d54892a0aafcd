"""Files of SQL statements: where one ends, what lines of directives ask, what a statement does.

The form is that of Spark's SQL tests: statements end with a semicolon; ``--IMPORT file`` puts the
statements of another file first; ``--SET name=value, ...`` sets what all statements run under;
``--QUERY-DELIMITER-START`` and ``-END`` enclose a statement that has semicolons in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

_DIRECTIVE: Final = re.compile(r"^\s*--(IMPORT|SET)\s+(.*?)\s*$", re.MULTILINE)
_ENCLOSED: Final = re.compile(
    r"^\s*--QUERY-DELIMITER-START\s*$(.*?)^\s*--QUERY-DELIMITER-END\s*$", re.MULTILINE | re.DOTALL
)
_PIECE: Final = re.compile(
    r"""
    (?P<comment> --[^\n]* )
    | (?P<block> /\* )
    | (?P<raw> \b[rR](?:'[^']*'|"[^"]*") )
    | (?P<quoted> '(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*" | `(?:[^`]|``)*` )
    | (?P<dollars> \$\$.*?\$\$ )
    | (?P<end> ; )
    """,
    re.VERBOSE | re.DOTALL,
)
_SETTING: Final = re.compile(r"\s*([\w.]+)\s*=\s*([^,]*)(?:,|$)")
_QUERY: Final = re.compile(r"[\s(]*(SELECT|WITH|VALUES|TABLE|FROM)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a file.

    Attributes
    ----------
    text
        The statement without its semicolon and the comments before it.
    key
        A digest of the statement and of those before it that it may depend on: the same text
        after other tables is another case.
    """

    text: str
    key: str

    @property
    def is_query(self) -> bool:
        """Whether it asks for rows, and changes nothing."""
        return is_query(self.text)


@dataclass(frozen=True, slots=True)
class Script:
    """A file: what it sets first, and its statements in order."""

    name: str
    settings: dict[str, str]
    statements: tuple[Statement, ...]


def is_query(text: str) -> bool:
    """Tell whether a statement without comments before it is a query."""
    return _QUERY.match(text) is not None


def read_script(path: Path) -> Script:
    """Read a file with the files that it imports.

    Raises
    ------
    FileNotFoundError
        For a file, or an imported one, that is not there.
    """
    settings, texts = _read(path)
    past = sha256(repr(sorted(settings.items())).encode())
    statements = []
    for text in texts:
        digest = past.copy()
        digest.update(text.encode())
        statements.append(Statement(text, digest.hexdigest()[:16]))
        if not is_query(text):
            past = digest
    return Script(path.stem, settings, tuple(statements))


def _read(path: Path) -> tuple[dict[str, str], list[str]]:
    source = path.read_text()
    settings: dict[str, str] = {}
    texts: list[str] = []
    for kind, argument in _DIRECTIVE.findall(source):
        if kind == "SET":
            settings |= {name: value.strip() for name, value in _SETTING.findall(argument)}
        else:
            more, before = _read(path.parent / argument)
            settings |= more
            texts += before
    start = 0
    for enclosed in _ENCLOSED.finditer(source):
        texts += split(source[start : enclosed.start()])
        texts.append(_bare(enclosed.group(1)).removesuffix(";"))
        start = enclosed.end()
    return settings, texts + list(split(source[start:]))


def split(source: str) -> Iterator[str]:
    """Yield the statements of a text, each without comments before it.

    Semicolons in literals, quoted names and comments end none; comments in brackets nest.
    """
    start = position = 0
    while piece := _PIECE.search(source, position):
        position = piece.end()
        if piece.lastgroup == "block":
            position = _after_comment(source, piece.start())
        elif piece.lastgroup == "end":
            yield from filter(None, [_bare(source[start : piece.start()])])
            start = position
    yield from filter(None, [_bare(source[start:])])


def _bare(text: str) -> str:
    """Return a statement without the comments and blanks before it, and blanks after."""
    position = 0
    while True:
        rest = text[position:]
        position += len(rest) - len(rest.lstrip())
        if text.startswith("--", position):
            position = (text.find("\n", position) + 1) or len(text)
        elif text.startswith("/*", position) and not text.startswith("/*+", position):
            position = _after_comment(text, position)
        else:
            return text[position:].rstrip()


def _after_comment(text: str, start: int) -> int:
    """Return where a comment in brackets ends: after its last bracket, or with the text."""
    depth, position = 0, start
    for bracket in re.finditer(r"/\*|\*/", text[start:]):
        depth += 1 if bracket.group() == "/*" else -1
        position = start + bracket.end()
        if depth == 0:
            return position
    return len(text)
