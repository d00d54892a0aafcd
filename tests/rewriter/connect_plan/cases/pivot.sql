-- title: pivot
{
 "common": {"plan_id": "16"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_PIVOT",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
  "aggregate_expressions": [
   {
    "unresolved_function": {
     "function_name": "sum",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
    }
   }
  ],
  "pivot": {
   "col": {"unresolved_attribute": {"unparsed_identifier": "v", "plan_id": "0"}},
   "values": [{"string": "a"}]
  }
 }
}
-- expected
WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v
  FROM l
)
SELECT
  p.k,
  p.v0 AS a
FROM (
  SELECT
    *
  FROM q1
  PIVOT(sum(q1.id) AS a0 FOR v IN ('a' AS v0))
) AS p

-- title: pivot by expression
{
 "common": {"plan_id": "1"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_PIVOT",
  "grouping_expressions": [
   {
    "unresolved_function": {
     "function_name": "upper",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
    }
   }
  ],
  "aggregate_expressions": [
   {
    "unresolved_function": {
     "function_name": "sum",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
    }
   }
  ],
  "pivot": {
   "col": {"unresolved_attribute": {"unparsed_identifier": "v"}},
   "values": [{"string": "a"}]
  }
 }
}
-- error
UnsupportedError: in this data frame, a pivot grouped by an expression has no rule
Add it as a column before groupBy.

-- title: pivot of expression
{
 "common": {"plan_id": "16"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_PIVOT",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
  "aggregate_expressions": [
   {
    "unresolved_function": {
     "function_name": "sum",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
    }
   }
  ],
  "pivot": {
   "col": {
    "unresolved_function": {
     "function_name": "upper",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "v", "plan_id": "0"}}]
    }
   },
   "values": [{"string": "a"}]
  }
 }
}
-- error
UnsupportedError: in this data frame, a pivot of an expression has no rule
Add it as a column before groupBy.

-- title: pivot of its key
{
 "common": {"plan_id": "1"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_PIVOT",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "id"}}],
  "aggregate_expressions": [
   {
    "unresolved_function": {
     "function_name": "sum",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
    }
   }
  ],
  "pivot": {
   "col": {"unresolved_attribute": {"unparsed_identifier": "v"}},
   "values": [{"string": "a"}]
  }
 }
}
-- error
UnsupportedError: in this data frame, a pivot that reads a column that it groups by has no rule
Add the column once more, under another name, before groupBy.

-- title: pivot without values
{
 "common": {"plan_id": "1"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_PIVOT",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
  "aggregate_expressions": [
   {
    "unresolved_function": {
     "function_name": "sum",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
    }
   }
  ],
  "pivot": {"col": {"unresolved_attribute": {"unparsed_identifier": "v"}}}
 }
}
-- error
UnsupportedError: in this data frame, a pivot without values has no rule
Give pivot() the values.

-- title: subquery as pivot
{
 "common": {"plan_id": "882"},
 "with_relations": {
  "root": {
   "common": {"plan_id": "16"},
   "aggregate": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "group_type": "GROUP_TYPE_PIVOT",
    "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
    "aggregate_expressions": [
     {
      "unresolved_function": {
       "function_name": "sum",
       "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
      }
     }
    ],
    "pivot": {
     "col": {"subquery_expression": {"plan_id": "880", "subquery_type": "SUBQUERY_TYPE_SCALAR"}},
     "values": [{"string": "a"}]
    }
   }
  },
  "references": [
   {
    "common": {"plan_id": "880"},
    "project": {
     "input": {
      "common": {"plan_id": "1"},
      "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
     },
     "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
    }
   }
  ]
 }
}
-- error
UnsupportedError: in this data frame, a subquery stands where none has a rule
Write it as a join.

-- title: transpose
{
 "common": {"plan_id": "1117"},
 "transpose": {
  "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}}
 }
}
-- error
UnsupportedError: in this data frame, transpose() makes columns of what rows hold
Give the values as columns: groupBy().pivot(column, values), or unpivot().

-- title: rows with their numbers
{
 "common": {"plan_id": "1118"},
 "project": {
  "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "expressions": [
   {
    "alias": {
     "expr": {"unresolved_function": {"function_name": "distributed_sequence_id"}},
     "name": ["index"]
    }
   }
  ]
 }
}
-- error
UnsupportedError: in this data frame, zipWithIndex() numbers rows in an order that Spark does not promise
Number them by columns: F.row_number().over(Window.orderBy(...)) - 1.

-- title: unpivot
{
 "common": {"plan_id": "733"},
 "unpivot": {
  "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "ids": [{"unresolved_attribute": {"unparsed_identifier": "rid"}}],
  "variable_column_name": "var",
  "value_column_name": "val"
 }
}
-- expected
WITH q1 AS (
  SELECT
    r.rid,
    r.k,
    r.w
  FROM r
)
SELECT
  p.rid,
  p.var,
  p.val
FROM q1
UNPIVOT INCLUDE NULLS (val FOR var IN (k AS k, w AS w)) AS p

-- title: unpivot kept
{
 "common": {"plan_id": "740"},
 "unpivot": {
  "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "ids": [
   {"unresolved_attribute": {"unparsed_identifier": "rid"}},
   {"unresolved_attribute": {"unparsed_identifier": "k"}}
  ],
  "values": {
   "values": [
    {"unresolved_attribute": {"unparsed_identifier": "k"}},
    {"unresolved_attribute": {"unparsed_identifier": "w"}}
   ]
  },
  "variable_column_name": "var",
  "value_column_name": "val"
 }
}
-- error
UnsupportedError: in this data frame, unpivot() of a column that is kept too has no rule
Add a copy of the column.

-- title: unpivot of expression
{
 "common": {"plan_id": "741"},
 "unpivot": {
  "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "ids": [{"unresolved_attribute": {"unparsed_identifier": "rid"}}],
  "values": {
   "values": [
    {
     "alias": {
      "expr": {
       "unresolved_function": {
        "function_name": "+",
        "arguments": [
         {"unresolved_attribute": {"unparsed_identifier": "k"}},
         {"literal": {"integer": 1}}
        ]
       }
      },
      "name": ["k1"]
     }
    },
    {"unresolved_attribute": {"unparsed_identifier": "w"}}
   ]
  },
  "variable_column_name": "var",
  "value_column_name": "val"
 }
}
-- error
UnsupportedError: in this data frame, unpivot() of an expression has no rule
Add it as a column before.

-- title: unpivot other letters
{
 "common": {"plan_id": "735"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "734"},
   "unpivot": {
    "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
    "values": {
     "values": [
      {"unresolved_attribute": {"unparsed_identifier": "K"}},
      {"unresolved_attribute": {"unparsed_identifier": "w"}}
     ]
    },
    "variable_column_name": "var",
    "value_column_name": "val"
   }
  },
  "group_type": "GROUP_TYPE_GROUPBY",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "var"}}],
  "aggregate_expressions": [
   {
    "alias": {
     "expr": {
      "unresolved_function": {
       "function_name": "sum",
       "arguments": [{"unresolved_attribute": {"unparsed_identifier": "val"}}]
      }
     },
     "name": ["s"]
    }
   }
  ]
 }
}
-- expected
WITH q1 AS (
  SELECT
    r.k,
    r.w
  FROM r
)
SELECT
  p.var,
  sum(p.val) AS s
FROM q1
UNPIVOT INCLUDE NULLS (val FOR var IN (k AS K, w AS w)) AS p
GROUP BY
  p.var
