"""Runs of the car dealerships: cars, a buyer, and executions until the buyer buys.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.2: numCars cars
per dealership, each randomly of one of 12 German models; one buyer per run, with a random model,
reserve price and probability of accepting a bid; a run ends when the buyer buys, or after numExec
executions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any, cast

import pyarrow as pa

from benchmark_workflowgen.dealerships.bids import LIST_PRICES
from benchmark_workflowgen.draws import Draws
from lipstick.workflow import Run, Workflow

DEALERS = ("dealer1", "dealer2", "dealer3", "dealer4")
MODELS = tuple(LIST_PRICES)


@dataclass(frozen=True, slots=True)
class Buyer:
    """The buyer of a run.

    Parameters
    ----------
    name
        Of the buyer.
    model
        That is asked for in every execution.
    reserve
        The most that the buyer pays, in dollars.
    acceptance
        With what probability a bid that is not above the reserve price is accepted.
    """

    name: str
    model: str
    reserve: int
    acceptance: float


@dataclass(frozen=True, slots=True)
class Dealerships:
    """A run of the car dealerships.

    Parameters
    ----------
    cars
        numCars: how many each of the four dealerships starts with.
    executions
        numExec: after how many the run ends, if the buyer has not bought before.
    acceptance
        The buyer's probability of accepting; None: drawn between 0.05 and 0.5. With 0 a run has
        all its executions, with 1 it ends as soon as a bid is within the reserve price.
    reserve
        The buyer's reserve price as a share of the list price; None: drawn between 0.75 and 1.
    seed
        Runs with one seed have the same cars, buyer and choices.

    Raises
    ------
    ValueError
        For numbers that are out of range.
    """

    cars: int = 5_000
    executions: int = 10
    acceptance: float | None = None
    reserve: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.cars < 0 or self.executions < 1 or self.seed < 0:
            raise ValueError("cars and seed are not negative, and there is an execution at least")
        if self.acceptance is not None and not 0 <= self.acceptance <= 1:
            raise ValueError(f"acceptance is a probability, not {self.acceptance}")
        if self.reserve is not None and self.reserve <= 0:
            raise ValueError(f"reserve is a share of the list price, not {self.reserve}")

    @property
    def workflow(self) -> Workflow:
        """The workflow, which is the same for all parameters."""
        return _workflow()

    @property
    def buyer(self) -> Buyer:
        """The buyer, drawn with the seed."""
        draws = Draws(self.seed, 0)
        model = draws.choice(MODELS)
        reserve, acceptance = float(draws.uniform(0.75, 1)), float(draws.uniform(0.05, 0.5))
        reserve = reserve if self.reserve is None else self.reserve
        acceptance = acceptance if self.acceptance is None else self.acceptance
        return Buyer(f"P{self.seed}", model, int(reserve * LIST_PRICES[model]), acceptance)

    def state(self) -> Mapping[str, Mapping[str, pa.Table]]:
        """Return the cars that each dealership starts with."""
        return {dealer: {"Cars": self._cars(number)} for number, dealer in enumerate(DEALERS, 1)}

    def _cars(self, dealer: int) -> pa.Table:
        models = Draws(self.seed, dealer).integers(len(MODELS), self.cars)
        names = [f"C{dealer}-{number:06}" for number in range(1, self.cars + 1)]
        return pa.table(
            {
                "CarId": pa.array(names, pa.string()),
                "Model": pa.array(MODELS).take(pa.array(models)),
            }
        )

    def input(self, execution: int) -> Mapping[str, Any]:
        """Return the buyer's request, highest price and willingness to accept in an execution."""
        buyer, bid = self.buyer, f"B{execution + 1:04}"
        willing = float(Draws(self.seed, 5, execution).uniform(0, 1)) < buyer.acceptance
        return {
            "Request": [(buyer.name, bid, buyer.model)],
            "Choice": [(bid, buyer.reserve, willing)],
        }

    def ended(self, run: Run, execution: int) -> bool:
        """Return True if the buyer has bought a car in an execution, which ends the run."""
        if self.buyer.acceptance == 0:
            return False
        return bool(cast(pa.Table, run.output(execution)).num_rows)


@cache
def _workflow() -> Workflow:
    with as_file(files(__package__) / "workflow.yaml") as path:
        return Workflow.read(path, imports=[__package__])
