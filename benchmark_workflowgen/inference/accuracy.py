"""Fig. 14: the share of outputs whose inferred inputs are exactly the recorded ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmark_workflowgen.inference.simulate import simulate
from lipstick.systems.scripts.inference import (
    Distribution,
    ProcessingElement,
    basic,
    multi_step,
    posterior,
    probabilistic,
    trigger_origin,
)


def measure(setting: Mapping[str, Any], units: int, runs: int, seed: int) -> dict[str, Any]:
    """One row of Fig. 14: the mean and the standard deviation over runs, in per cent.

    Basic inference is given the mean delay less one, which fits what the paper reports (the paper
    does not say which delay it was given), and the mean delay itself.
    """
    delay, gap = (Distribution.poisson(setting[name]) for name in ("delay", "sampling"))
    element = ProcessingElement(setting["window"], setting["trigger"], delay)
    shares_by_name: dict[str, list[float]] = {}
    for run in range(runs):
        for name, share in _run(element, gap, units, seed + run).items():
            shares_by_name.setdefault(name, []).append(100 * share)
    shares = {
        name: {"mean": float(np.mean(values)), "deviation": float(np.std(values))}
        for name, values in shares_by_name.items()
    }
    return {"setting": {k: v for k, v in setting.items() if k != "paper"},
            "paper": setting["paper"], "measured": shares}  # fmt: skip


def _run(element: ProcessingElement, gap: Distribution, units: int, seed: int) -> dict[str, float]:
    mean = round(element.delay.mean)
    single = simulate([element], gap, units, seed)
    two = simulate([element, element], gap, units, seed)
    origin = trigger_origin(element, single.outputs)
    known = replace(element, origin=origin)
    less, at_mean = (
        replace(element, delay=Distribution.constant(d)) for d in (max(mean - 1, 0), mean)
    )
    steps = [element, replace(element, origin=trigger_origin(element, two.outputs))]
    views = single.inputs, single.outputs
    return {
        "basic, mean delay - 1": basic(less, *views).score(single.truth).exact,
        "basic, mean delay": basic(at_mean, *views).score(single.truth).exact,
        "probabilistic": probabilistic(element, *views).score(single.truth).exact,
        "posterior": posterior(element, *views).score(single.truth).exact,
        "posterior, learned grid": posterior(known, *views).score(single.truth).exact,
        "multi-step": multi_step([element] * 2, two.inputs, two.outputs).score(two.truth).exact,
        "multi-step, learned grid": multi_step(steps, two.inputs, two.outputs)
        .score(two.truth)
        .exact,
    }
