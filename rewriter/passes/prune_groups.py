"""Members of groups that HAVING drops are not captured where no deletion can bring them back."""

from __future__ import annotations

from dataclasses import replace

from rewriter.analysis.monotone import monotone_having
from rewriter.blocks import topological
from rewriter.passes.capture_plan import CapturePlan


def prune_groups(plan: CapturePlan) -> CapturePlan:
    """Return a plan that captures members of those groups alone that a monotone HAVING keeps.

    ``SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 5`` has, whatever is deleted, only
    dealers that it has now.
    """
    known = {block.name: monotone_having(block) for block in topological(plan.root)}
    monotone = {name: reason for name, reason in known.items() if reason is not None}
    return replace(plan, monotone=monotone) if monotone else plan
