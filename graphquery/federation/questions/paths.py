"""Paths from some nodes to others across stores."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from graphquery.federation.crossings import rows as crossing
from graphquery.federation.questions.answer import Verdict
from graphquery.federation.questions.flow import FlowWalk, at_hand, flow
from graphquery.federation.questions.fragments import ask_fragments
from graphquery.federation.questions.question import Question
from graphquery.federation.wire import requests
from semiring.base import Array


def paths(
    question: Question,
    sources: Collection[str],
    targets: Collection[str],
    limit: int,
    longest: int | None,
) -> tuple[Verdict, list[tuple[str, ...]]]:
    """Paths from some nodes to others, the shortest first, each as names.

    After `flow`, the stores on the way are asked at once for what lies between the rows on which
    a path enters them and those on which it leaves.
    """
    verdict, state = flow(question, sources, targets, every=True)
    if verdict is Verdict.NO:
        return verdict, []
    rows = _on_the_way(question, state)
    batch = {}
    for alias, head in question.directory.heads.items():
        entries = {channel: each for channel, each in rows.items() if channel in head.imports}
        exits = {channel: each for channel, each in rows.items() if channel in head.exports}
        starts, ends = state.sources.get(alias, ()), state.targets.get(alias, ())
        if (starts or entries) and (ends or exits):
            batch[alias] = requests.between(
                question.version(alias),
                starts,
                entries,
                ends,
                exits,
                named=True,
                zoomed=question.zoom(alias),
            )
    joined = ask_fragments(question, batch)
    from_ids = np.concatenate([*joined.sources.values(), np.empty(0, np.int64)])
    to_ids = np.concatenate([*joined.targets.values(), np.empty(0, np.int64)])
    ends_known = (from_ids[from_ids >= 0], to_ids[to_ids >= 0])
    node_paths = joined.graph.paths(*ends_known, limit, longest)
    if node_paths or (limit and joined.graph.paths(*ends_known, 1)):
        verdict = Verdict.YES
    elif verdict is not Verdict.YES:
        verdict = Verdict.UNKNOWN if question.missing else Verdict.NO
    return verdict, [tuple(joined.names[node] for node in path) for path in node_paths]


def _on_the_way(question: Question, state: FlowWalk) -> dict[str, Array]:
    """Return the visited rows behind the sources, if boundary graphs know all; else all visited
    rows.
    """
    if not state.visited.keys() <= at_hand(question):
        return state.visited
    ahead = question.boundary.reached(state.exported, forwards=True)
    return crossing.intersection(state.visited, crossing.union([ahead, state.exported]))
