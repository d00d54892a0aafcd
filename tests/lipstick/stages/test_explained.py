"""Plans as Spark explains them over Connect: which texts are one query, and which are not."""

import pytest

from lipstick.dataframes.connect_proof import comparable

GROUPED = """\
Aggregate [k#2, k#5], [k#2 AS a#9, k#5 AS b#10, sum(c#7) AS s#8L]
+- Project [k#2, k#5, (id#1 + w#6) AS c#7]
   +- Join Inner, (k#2 = k#5)
      :- LocalRelation [id#1, k#2]
      +- LocalRelation [k#5, w#6]"""
GROUPED_IN_STEPS = """\
Aggregate [k#2, k_2#7], [k#2 AS a#9, k_2#7 AS b#10, sum(c#11) AS s#8L]
+- Project [k#2, k#5 AS k_2#7, (id#1 + w#6) AS c#11]
   +- Join Inner, (k#2 = k#5)
      :- LocalRelation [id#1, k#2]
      +- LocalRelation [k#5, w#6]"""
LIMITED = """\
Filter (id#1 > 0)
+- GlobalLimit 3
   +- LocalLimit 3
      +- Join Inner, (k#2 = k#5)
         :- Filter isnotnull(k#2)
         :  +- LocalRelation [id#1, k#2]
         +- LocalRelation [k#5, w#6]"""
LIMITED_IN_STEPS = """\
Project [id#1, k#2, k_2#7 AS k#8, w#6]
+- Filter (id#1 > 0)
   +- GlobalLimit 3
      +- LocalLimit 3
         +- Project [id#1, k#2, k#5 AS k_2#7, w#6]
            +- Join Inner, (k#2 = k#5)
               :- Filter isnotnull(k#2)
               :  +- LocalRelation [id#1, k#2]
               +- LocalRelation [k#5, w#6]"""


def test_numbers_are_those_of_one_plan() -> None:
    assert comparable("Filter (k#7 > 1)\n+- LocalRelation [id#6, k#7]") == comparable(
        "Filter (k#2 > 1)\n+- LocalRelation [id#1, k#2]"
    )
    assert comparable("Filter (k#7 > 1)\n+- LocalRelation [id#6, k#7]") != comparable(
        "Filter (id#1 > 1)\n+- LocalRelation [id#1, k#2]"
    )


def test_names_in_other_letters() -> None:
    assert comparable("Filter (K#2 > 1)\n+- LocalRelation [id#1, k#2]") == comparable(
        "Filter (k#2 > 1)\n+- LocalRelation [id#1, k#2]"
    )


@pytest.mark.parametrize(
    ("frame", "text"), [(GROUPED, GROUPED_IN_STEPS), (LIMITED, LIMITED_IN_STEPS)]
)
def test_columns_of_one_name(frame: str, text: str) -> None:
    """A text gives one of them another name on the way, and a frame need not."""
    assert comparable(frame) == comparable(text)
    assert comparable(frame) != comparable(text.replace("k#5 AS k_2#7", "w#6 AS k_2#7"))


def test_columns_that_are_chosen_again_have_no_order() -> None:
    """They have one where they are an answer, or the side of a union."""
    below = "\n   +- LocalRelation [a#1, b#2]"
    first, other = "+- Project [a#1, (b#2 + 1) AS c#3]", "+- Project [(b#2 + 1) AS c#3, a#1]"
    choosing = "Aggregate [a#1], [a#1, sum(c#3) AS s#4L]\n"
    assert comparable(choosing + first + below) == comparable(choosing + other + below)
    for above in ("Filter (a#1 > 1)\n", "Union false, false\n"):
        assert comparable(above + first + below) != comparable(above + other + below)


@pytest.mark.parametrize(
    "plan",
    [
        # The attribute is used above too: beside the other one, it is another column.
        "Filter (k#2 > j#7)\n+- Project [k#2, k#2 AS j#7]\n   +- LocalRelation [id#1, k#2]",
        # A side of a join has the other's attributes under other numbers.
        "Join Inner, (k#2 = j#7)\n:- LocalRelation [id#1, k#2]\n"
        "+- Project [k#2 AS j#7]\n   +- LocalRelation [id#1, k#2]",
        # Fewer columns, or others.
        "Filter (k#2 > 1)\n+- Project [k#2]\n   +- LocalRelation [id#1, k#2]",
        "Filter (k#2 > 1)\n+- Project [k#2, id#1]\n   +- LocalRelation [id#1, k#2]",
    ],
)
def test_projections_that_decide_something_are_kept(plan: str) -> None:
    assert comparable(plan).count("Project") == 1
    assert comparable(plan).count(" AS ") == plan.count(" AS ")


def test_calls_of_functions_are_alike() -> None:
    """Their numbers are not attributes, and those of columns are."""
    plan = (
        "ArrowEvalPython [_lipstick_udf_0f(w#1, concat(a#2, x))#{0}], [pythonUDF0#5], 101\n"
        "+- Filter (pythonUDF0#4 > 20)\n"
        "   +- ArrowEvalPython [_lipstick_udf_0f(w#1, concat(a#2, x))#{1}], [pythonUDF0#4], 101\n"
        "      +- LocalRelation [w#1, a#2]"
    )
    assert comparable(plan.format(7, 7)) == comparable(plan.format(7, 8))
    assert "x))]" in comparable(plan.format(7, 7))
    assert comparable("Project [sum(w)#1]\n+- X") != comparable("Project [sum(w)]\n+- X")


def test_names_that_are_counted() -> None:
    plan = "Project [(_common_expr_{0}#3 + _common_expr_{0}#3) AS c#4]\n+- X"
    assert comparable(plan.format(7)) == comparable(plan.format(12))


def test_parts_of_a_range_and_names_of_views() -> None:
    assert comparable("Range (0, 3, step=1, splits=Some(2))") == comparable("Range (0, 3, step=1)")
    plan = "Generate explode(a#1), false, {}[e#2]\n+- LocalRelation [a#1]"
    assert comparable(plan.format("g, ")) == comparable(plan.format(""))


def test_rows_are_distinct_by_columns_in_any_order() -> None:
    plan = "Aggregate [{keys}], [id#1, k#2L]\n+- LocalRelation [id#1, k#2L, w#3]"
    assert comparable(plan.format(keys="k#2L, id#1")) == comparable(plan.format(keys="id#1, k#2L"))
    assert comparable(plan.format(keys="k#2L, w#3")) != comparable(plan.format(keys="id#1, k#2L"))
