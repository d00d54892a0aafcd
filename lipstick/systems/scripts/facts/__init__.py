"""Facts about calls: what they read, write and change, held as data in `data/*.yaml`."""

from __future__ import annotations

from lipstick.systems.scripts.facts.catalogue import PLAIN, Catalogue, catalogue, unknown_fact
from lipstick.systems.scripts.facts.fact import Fact, Parameter

__all__ = ["PLAIN", "Catalogue", "Fact", "Parameter", "catalogue", "unknown_fact"]
