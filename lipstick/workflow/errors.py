"""Errors of modules, workflows and their runs; one class per condition of the definitions.

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


class DocumentError(WorkflowError):
    """A workflow file that cannot be read, or does not have the form of one."""


class RelationError(WorkflowError):
    """A declared relation without columns, or with a key that it does not have."""


class ModuleNameError(WorkflowError):
    """A module whose name is empty, not unique, or used with two meanings."""


class OverlapError(WorkflowError):
    """Input, state and output schema of a module share a relation (Def. 2.1: they are disjoint)."""


class ModuleQueryError(WorkflowError):
    """Q_state or Q_out does not return the declared columns, or is not a query."""


class ImportNotAllowedError(ModuleQueryError):
    """Code in a workflow file that the reader has not allowed to be imported."""


class UnknownRelationError(WorkflowError):
    """A query or an edge names an unknown relation."""


class UnknownNodeError(WorkflowError):
    """An edge, a loop, an input or an output names an unknown node."""


class CycleError(WorkflowError):
    """The graph has a cycle (Def. 2.2: a workflow is a DAG)."""


class DisconnectedError(WorkflowError):
    """The graph is empty or falls into parts (Def. 2.2: it is connected)."""


class EdgeRelationError(WorkflowError):
    """An edge carries a relation that is no output of its start or no input of its end."""


class SchemaMismatchError(WorkflowError):
    """The two relations that an edge joins have different columns."""


class EdgeOverlapError(WorkflowError):
    """Two edges into one node bring the same relation (Def. 2.2: their names are disjoint)."""


class InputNodeError(WorkflowError):
    """An input node with an incoming edge."""


class OutputNodeError(WorkflowError):
    """An output node with an outgoing edge."""


class UncoveredError(WorkflowError):
    """A relation of a node's input schema that no edge brings (Def. 2.2: S_in is covered)."""


class LoopError(WorkflowError):
    """A loop that cannot be unfolded."""


class InputError(WorkflowError):
    """The input of an execution, or an initial state, that does not fit the workflow."""


class RunError(WorkflowError):
    """A run that cannot be started or continued, or a question that it cannot answer."""
