"""Fig. 14: the share of outputs whose inferred inputs are exactly the recorded ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lipstick.scripts.inference import (
    Distribution,
    ProcessingElement,
    basic,
    multi_step,
    posterior,
    probabilistic,
    trigger_origin,
)
from lipstick.scripts.inference.simulate import simulate


def measure(setting: Mapping[str, Any], units: int, runs: int, seed: int) -> dict[str, Any]:
    """One row of Fig. 14: the mean and the standard deviation over runs, in per cent.

    Basic inference is given the mean delay less one, which fits what the paper reports (the paper
    does not say which delay it was given), and the mean delay itself.
    """
    delay, gap = (Distribution.poisson(setting[name]) for name in ("delay", "sampling"))
    element = ProcessingElement(setting["window"], setting["trigger"], delay)
    found: dict[str, list[float]] = {}
    for run in range(runs):
        for name, share in _run(element, gap, units, seed + run).items():
            found.setdefault(name, []).append(100 * share)
    shares = {
        name: {"mean": float(np.mean(values)), "deviation": float(np.std(values))}
        for name, values in found.items()
    }
    return {"setting": {k: v for k, v in setting.items() if k != "paper"},
            "paper": setting["paper"], "measured": shares}  # fmt: skip


def _run(element: ProcessingElement, gap: Distribution, units: int, seed: int) -> dict[str, float]:
    mean = round(element.delay.mean)
    one = simulate([element], gap, units, seed)
    two = simulate([element, element], gap, units, seed)
    origin = trigger_origin(element, one.outputs)
    known = replace(element, origin=origin)
    less, at_mean = (
        replace(element, delay=Distribution.constant(d)) for d in (max(mean - 1, 0), mean)
    )
    steps = [element, replace(element, origin=trigger_origin(element, two.outputs))]
    views = one.inputs, one.outputs
    return {
        "basic, mean delay - 1": basic(less, *views).score(one.truth).exact,
        "basic, mean delay": basic(at_mean, *views).score(one.truth).exact,
        "probabilistic": probabilistic(element, *views).score(one.truth).exact,
        "posterior": posterior(element, *views).score(one.truth).exact,
        "posterior, learned grid": posterior(known, *views).score(one.truth).exact,
        "multi-step": multi_step([element] * 2, two.inputs, two.outputs).score(two.truth).exact,
        "multi-step, learned grid": multi_step(steps, two.inputs, two.outputs)
        .score(two.truth)
        .exact,
    }
