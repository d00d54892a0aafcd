"""sqlglot as its Python sources say, also where its compiled modules lie beside them.

``pip install sqlglot[c]``, which other tools do, puts modules compiled by mypyc into the folder of
sqlglot (package ``sqlglotc``). Their classes cannot be extended by classes of Python, as
:mod:`rewriter.dialect` does: the first query would end in a ``TypeError``.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
)
from importlib.util import find_spec


def import_sources() -> None:
    """Have the modules of sqlglot imported from their sources in this process.

    Raises
    ------
    ImportError
        Compiled modules were imported before.
    """
    modules = [item for name, item in sys.modules.items() if name.partition(".")[0] == "sqlglot"]
    if any(isinstance(module.__loader__, ExtensionFileLoader) for module in modules):
        raise ImportError(
            "lipstick extends classes of sqlglot, and the compiled ones cannot be extended. "
            "Import `rewriter` before all else that imports sqlglot, or remove the compiled "
            "modules: pip uninstall sqlglotc"
        )
    spec = find_spec("sqlglot")
    for place in (spec and spec.submodule_search_locations) or ():
        for folder, _, files in os.walk(place):
            if any(file.endswith(tuple(EXTENSION_SUFFIXES)) for file in files):
                sources = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))
                sys.path_importer_cache[folder] = sources
