"""Read by Spark's Python workers at start: hides from them what a cluster's workers do not have.

Evaluators travel to the workers by value and may import only numpy and pyarrow there.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

OURS = ("benchmark_workflowgen", "graphquery", "lipstick", "rewriter", "semiring")
OF_THE_DRIVER = ("click", "duckdb", "hypothesis", "networkx", "pytest", "rich", "sqlglot", "sympy")
HIDDEN = frozenset((*OURS, *OF_THE_DRIVER, "tests"))


class Hidden(MetaPathFinder):
    """Refuses the import of hidden packages before any other finder is asked."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        del path, target
        if fullname.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"{fullname} is not there on a Spark worker", name=fullname)


sys.meta_path.insert(0, Hidden())
