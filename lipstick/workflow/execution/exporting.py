"""Outputs of modules as datasets that other stores may import."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from graphquery.federation import Offer, export_dataset, is_dataset
from graphquery.store import Store
from graphquery.store.crossing import channel_id
from graphquery.store.format import check_format
from lipstick.workflow.errors import RunError

if TYPE_CHECKING:
    from lipstick.workflow.definition.shape import Shape
    from lipstick.workflow.execution.run import Run


def parsed_exports(
    shape: Shape, exports: Mapping[str, str | os.PathLike[str]]
) -> dict[tuple[str, str], Path]:
    """Which outputs are exported, ``node/relation``, by node and relation.

    Raises
    ------
    RunError
        For an output that there is not.
    """
    folders = {}
    for text, folder in exports.items():
        node, _, relation = text.partition("/")
        if node not in shape.nodes or relation not in shape.nodes[node].outputs:
            known = [f"{n}/{r}" for n, module in shape.nodes.items() for r in module.outputs]
            raise RunError(f"There is no output {text!r} to export.\nThere are {', '.join(known)}.")
        folders[node, relation] = Path(folder)
    return folders


def export_outputs(run: Run, exports: Mapping[tuple[str, str], Path]) -> dict[str, str]:
    """Export outputs of all executions that are done, each to a folder of its own.

    The dataset is called ``workflow/node/relation``, its versions by the number of the execution,
    and so are the folders within the one given. What is there already, and outputs without
    tuples, are passed over.

    Returns
    -------
    dict
        By folder, the identity of the channel.

    Raises
    ------
    RunError
        For a run without provenance.
    graphquery.federation.CrossingError
        A folder has something else in it.
    """
    if exports and not run.tracked:
        raise RunError(
            f"The run in {run.path} is without provenance, of which its exports would be.\n"
            "Run it tracked, into another store."
        )
    store = check_format(run.path).store
    channels = {}
    for (node, relation), root in exports.items():
        name = f"{run.workflow.name}/{node}/{relation}"
        for execution in range(run.executions):
            segment = f"{run.invocation(execution, node).name}/{relation}"
            folder = root / str(execution)
            channel = channel_id(store, name, str(execution))
            if is_dataset(folder) and Offer.read(folder).channel == channel:
                channels[str(folder)] = channel
            elif segment in run.snapshot.segments:
                with Store.open(run.path).writer() as writer:
                    arguments = (writer, segment, name, str(execution), folder)
                    channels[str(folder)] = export_dataset(*arguments)
    return channels
