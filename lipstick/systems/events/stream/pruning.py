"""Forgetting messages that counted, so that the job's folder does not grow with the stream.

Late messages are repaired from messages that are kept. Once some are forgotten, a late message is
joined through what is left, and reported: it may lack pairs.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from lipstick.systems.events.stream.plan import LOG, STATE, BatchPlan, TopicPlan
from lipstick.systems.events.stream.settings import StreamSettings


def forgetting(known: TopicPlan, batch: int, settings: StreamSettings) -> TopicPlan:
    """A topic after a batch, with the first batch whose messages are still kept.

    No message of a batch is later than the latest that had come with it.
    """
    if settings.keep is None or known.watermark is None or not known.latest:
        return known
    logged = {**known.logged, batch: max(known.latest.values())}
    horizon = known.watermark - settings.keep
    gone = [number for number, latest in logged.items() if latest < horizon]
    return replace(
        known,
        logged={number: latest for number, latest in logged.items() if latest >= horizon},
        kept_from=max([known.kept_from, *(number + 1 for number in gone)]),
    )


def prune(plan: BatchPlan) -> None:
    """Remove the messages that the last commit does not keep."""
    for topic, known in plan.topics.items():
        for file in plan.log_of(topic).glob("[0-9]*.arrow"):
            if int(file.name.partition("-")[0]) < known.kept_from:
                file.unlink()


def sweep_state(folder: Path, needed: Set[str]) -> None:
    """Remove state that the last commit does not have: of batches before, and of other attempts."""
    for file in (folder / STATE).iterdir():
        if file.name not in needed:
            file.unlink(missing_ok=True)


def sweep_log(folder: Path, last: int) -> None:
    """Remove messages that the commit of the last batch, or one before it, does not have."""
    for file in folder.glob(f"{LOG}/*/*"):
        if file.name.startswith(".") or int(file.name.partition("-")[0]) > last:
            file.unlink()
