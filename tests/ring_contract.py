"""The contract of import-linter that a ring imports only inwards."""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

from tests.rings import NAMES, ring_of_module

DOOR = "lipstick"
"""The module that names what is public of all rings, and imports it when it is asked for."""


class RingsContract(Contract):
    """Modules import from their own ring and from those within it; `DOOR` alone from all.

    Imports of types and imports in functions count.
    """

    type_name = "rings"

    core = fields.ListField(subfield=fields.StringField())
    graphs = fields.ListField(subfield=fields.StringField())
    tools = fields.ListField(subfield=fields.StringField())
    systems = fields.ListField(subfield=fields.StringField())
    benchmark = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        del verbose
        places = {name: getattr(self, name) for name in NAMES}
        roots = {place.partition(".")[0] for modules in places.values() for place in modules}
        own = {module for module in graph.modules if module.partition(".")[0] in roots}
        rank = {module: NAMES.index(ring_of_module(module, places)) for module in own}
        outwards = sorted(
            (importer, imported)
            for importer in own - {DOOR}
            for imported in graph.find_modules_directly_imported_by(importer) & own
            if rank[imported] > rank[importer]
        )
        return ContractCheck(kept=not outwards, metadata={"outwards": outwards})

    def render_broken_contract(self, check: ContractCheck) -> None:
        places = {name: getattr(self, name) for name in NAMES}
        for importer, imported in check.metadata["outwards"]:
            inner, outer = (ring_of_module(each, places) for each in (importer, imported))
            output.print_error(f"{importer} ({inner}) imports {imported} ({outer})")
