"""Errors of modules, workflows and their runs; one class per condition of the definitions.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definitions 2.1 to 2.3.
"""

from __future__ import annotations

from lipstick.errors import LipstickError


class WorkflowError(LipstickError):
    """A module, a workflow or a run that is not as defined.

    Parameters
    ----------
    message
        What is wrong, where, and what to do.
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
    """A workflow file that cannot be read, or is not shaped as one."""


class RelationError(WorkflowError):
    """A declared relation without columns, or with a key that it does not have."""


class ModuleNameError(WorkflowError):
    """A module whose name is empty, not unique, or used with two meanings."""


class OverlapError(WorkflowError):
    """Input, state and output schema of a module share a relation (Def. 2.1: they are disjoint)."""


class ModuleQueryError(WorkflowError):
    """Q_state or Q_out does not give what the schemas say, or is not a query."""


class ImportNotAllowedError(ModuleQueryError):
    """A workflow that was read names code, and the reader has not allowed to import it."""


class UnknownRelationError(WorkflowError):
    """A query or an edge names a relation that is not there."""


class UnknownNodeError(WorkflowError):
    """An edge, a loop, an input or an output names a node that is not there."""


class CycleError(WorkflowError):
    """The graph has a cycle (Def. 2.2: a workflow is a DAG)."""


class DisconnectedError(WorkflowError):
    """The graph is empty or falls into parts (Def. 2.2: it is connected)."""


class EdgeRelationError(WorkflowError):
    """An edge carries a relation that is not an output of its start or no input of its end."""


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
    """A run that cannot be started, continued or asked this."""
