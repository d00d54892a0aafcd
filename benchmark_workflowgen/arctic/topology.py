"""The workflows of the Arctic stations: serial, parallel and dense.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, section 5.2, Figure 4.
"""

from __future__ import annotations

from itertools import pairwise, product

from benchmark_workflowgen.arctic.climate import VARIABLES
from lipstick.workflow import Module, Relation, Specification, StateQuery, Workflow

TOPOLOGIES = ("parallel", "serial", "dense")
SELECTIVITIES = ("all", "season", "month", "year")

_QUERY = Relation("Year int, Month int, Selectivity string", key=("Year", "Month"))
_COLDEST = "Year int, Month int, Temperature double"
_MONTHS = Relation(
    "Year int, Month int, Season int, " + ", ".join(f"{v.name} double" for v in VARIABLES),
    key=("Year", "Month"),
)
_COLUMNS = ", ".join(name for name, _ in _MONTHS.columns)

INPUT = Specification(
    "input", {"Asked": _QUERY}, {"Query": _QUERY}, {"Query": "SELECT * FROM Asked"}
)
"""M_in: passes the current year and month and the selectivity to all stations."""

STATION = Specification(
    "station",
    {"Query": _QUERY, "MinTemps": Relation(_COLDEST, union=True, optional=True)},
    {"MinTemp": Relation(_COLDEST, key=("Year", "Month"))},
    {
        "Selected": """
            SELECT q.Year, q.Month, o.AirTemperature AS Temperature
            FROM Observations o JOIN Query q
              ON q.Selectivity = 'all'
              OR (q.Selectivity = 'year' AND o.Year = q.Year)
              OR (q.Selectivity = 'season' AND o.Season = q.Month % 12 DIV 3)
              OR (q.Selectivity = 'month' AND o.Month = q.Month)
        """,
        "Lowest": """
            SELECT Year, Month, min(Temperature) AS Temperature
            FROM Selected GROUP BY Year, Month
        """,
        "MinTemp": """
            SELECT Year, Month, min(Temperature) AS Temperature
            FROM (
                SELECT Year, Month, Temperature FROM Lowest
                UNION ALL SELECT Year, Month, Temperature FROM MinTemps
            ) AS known
            GROUP BY Year, Month
        """,
    },
    state={"Observations": _MONTHS, "Instrument": _MONTHS},
    query_state=StateQuery(
        {
            "Measured": "SELECT "
            + ", ".join(f"i.{name}" for name, _ in _MONTHS.columns)
            + " FROM Instrument i JOIN Query q ON i.Year = q.Year AND i.Month = q.Month"
        },
        insert={"Observations": f"SELECT {_COLUMNS} FROM Measured"},
    ),
)
"""M_sta: measures, remembers, and outputs the minimum of its own and received temperatures.

The state relation Instrument has the future measurements of a station, a row per month: so a
measurement has provenance, and needs no function that Spark does not have.
"""

OUTPUT = Specification(
    "output",
    {"MinTemps": Relation(_COLDEST, union=True)},
    {"MinTemp": Relation(_COLDEST, key=("Year", "Month"))},
    {
        "MinTemp": "SELECT Year, Month, min(Temperature) AS Temperature "
        "FROM MinTemps GROUP BY Year, Month"
    },
)
"""M_out: the overall minimum."""


def arctic(stations: int, topology: str, fan_out: int = 1) -> Workflow:
    """Return the workflow of some stations.

    Parameters
    ----------
    stations
        The number of stations, named `station1`, `station2`...
    topology
        ``parallel``: no edges among stations; ``serial``: an edge from each station to the next;
        ``dense``: layers of `fan_out` stations, with edges from all stations of a layer to all of
        the next. Edges lead to the output module from the last layer, the last station, or every
        station of ``parallel``.
    fan_out
        The number of stations in a layer of ``dense``.

    Raises
    ------
    ValueError
        There are no stations, there is no fan-out, or the topology is unknown.
    """
    if stations < 1 or fan_out < 1:
        raise ValueError("there are a station and a fan-out of 1 at least")
    if topology not in TOPOLOGIES:
        raise ValueError(f"topology is one of {', '.join(TOPOLOGIES)}, not {topology!r}")
    width = {"parallel": stations, "serial": 1, "dense": fan_out}[topology]
    names = [f"station{number}" for number in range(1, stations + 1)]
    layers = [names[at : at + width] for at in range(0, stations, width)]
    told = {"MinTemp": "MinTemps"}
    edges = [("in", name, {"Query": "Query"}) for name in names]
    for before, after in pairwise([*layers, ["out"]]):
        edges += [(source, target, told) for source, target in product(before, after)]
    return Workflow(
        "arctic",
        {
            "in": Module("in", INPUT),
            **{name: Module(name, STATION) for name in names},
            "out": Module("out", OUTPUT),
        },
        edges,
        inputs="in",
        outputs="out",
    )
