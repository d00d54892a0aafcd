"""Errors of modules, workflows and their runs.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definitions 2.1 to 2.3.
"""

from __future__ import annotations

from lipstick.errors import LipstickError


class WorkflowError(LipstickError):
    """A module, a workflow or a run that violates its definition.

    Parameters
    ----------
    message
        The problem, its place, and the remedy.
    subject
        The part of the workflow that is meant, as a path of keys and places in its document
        (``("edges", 2)``); a file that the workflow was read from turns it into a line.
    located
        Whether the message names the file and line.
    """

    def __init__(
        self, message: str, subject: tuple[str | int, ...] = (), *, located: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.subject = subject
        self.located = located


class DefinitionError(WorkflowError):
    """A file that is no workflow, or a module or workflow without a condition of its definition.

    The message names the condition: schemas of a module are disjoint and have columns and keys,
    a workflow is a connected DAG whose edges carry what their ends have, each relation of a node's
    input comes from one edge, and loops can be unfolded.
    """


class ImportNotAllowedError(DefinitionError):
    """Code in a workflow file that the reader has not allowed to be imported."""
