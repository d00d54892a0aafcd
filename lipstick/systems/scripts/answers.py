"""Answers to questions about a script: lines, assumptions and dependences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Line:
    """A line of a script.

    Parameters
    ----------
    file
        The file's name.
    number
        From 1; of a notebook in the text of its cells.
    where
        As people count: of a notebook ``cell 3, line 2``.
    """

    file: str
    number: int
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """An edge that an answer rests on, which is assumed and not certain."""

    line: Line
    why: str


@dataclass(frozen=True, slots=True)
class Dependence:
    """The lines, files and variables that some versions, lines or files depend on or affect.

    Attributes
    ----------
    lines
        A program: with the heads of the compound statements that lines stand in.
    files
        Files, tables and streams by name: the ones read, where the question is about
        dependence; the ones written, where it is about effect.
    variables
        Global variables whose last versions are among what was found.
    assumptions
        The assumed edges among it, and what the text leaves open that may change it; without any,
        the answer is certain.
    opaque
        Places among it that are not followed, and why.
    """

    lines: tuple[Line, ...]
    files: tuple[str, ...]
    variables: tuple[str, ...]
    assumptions: tuple[Assumption, ...] = ()
    opaque: tuple[Assumption, ...] = ()

    @property
    def certain(self) -> bool:
        """Return True if the answer rests on nothing assumed."""
        return not self.assumptions
