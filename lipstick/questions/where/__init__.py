"""The cells that a cell of an answer comes from.

A value is a *copy* of cells, *computed* from cells, or a constant; other cells may have *chosen*
it: conditions of CASE and COALESCE, and the values among which MAX, MIN or max_by chose. The cells
are followed from the capture: an output through the columns of its scalar, an aggregate through
the members of its group, a column of a derived table through the row that a member refers to, and
a column of a scan to the row with the member's token. A branch that was not taken
has no part in a value. Cells that are copied or computed from can change the value, unless the
other operands hide them (NULL, a factor of 0, branches of COUNT that are never NULL); cells that
chose it may. No other cell can, unless its column is one of `deciding`, which conditions, joins
and groupings read: then another row may take part.

A window function has the value of one row (LAG, FIRST_VALUE, NTH_VALUE: a copy), or is computed
from the rows of its frame, as an aggregate is from its group; its partition and order are deciding
columns, and the order chooses a rank. A row that a generator makes is from its own element of a
constructor (``array(a, b)``, ``map``, ``stack``), and computed from the whole array otherwise; a
cell of a table that an annotated query wrote comes with the cells behind it.

Two rules of groups: a key is a copy of the key in each of its rows, and of equal extremes all are
copied; such a value changes when all of them do.

Sources: Buneman, Khanna, Tan, *Why and Where: A Characterization of Data Provenance*, ICDT 2001,
whose where-provenance is the copies; Geerts, Kementsietsidis, Milano, *MONDRIAN*, ICDE 2006.
"""
