-- title: aggregate
{
 "common": {"plan_id": "2"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_GROUPBY",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
  "aggregate_expressions": [
   {
    "alias": {
     "expr": {
      "unresolved_function": {
       "function_name": "sum",
       "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
      }
     },
     "name": ["s"]
    }
   },
   {"unresolved_function": {"function_name": "count", "arguments": [{"unresolved_star": {}}]}},
   {
    "unresolved_function": {
     "function_name": "count",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "v"}}],
     "is_distinct": true
    }
   }
  ]
 }
}
-- expected
SELECT
  l.k AS `name 0`,
  sum(l.id) AS `name 1`,
  count(*) AS `name 2`,
  count(DISTINCT l.v) AS `name 3`
FROM l
GROUP BY
  l.k

-- title: drop duplicates subset
{
 "common": {"plan_id": "12"},
 "deduplicate": {
  "input": {
   "common": {"plan_id": "11"},
   "deduplicate": {
    "input": {
     "common": {"plan_id": "10"},
     "drop": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
      },
      "column_names": ["v"]
     }
    },
    "all_columns_as_keys": true,
    "within_watermark": false
   }
  },
  "column_names": ["k"],
  "all_columns_as_keys": false,
  "within_watermark": false
 }
}
-- expected
WITH q1 AS (
  SELECT DISTINCT
    l.id,
    l.k,
    l.st,
    l.a
  FROM l
)
SELECT
  first(q1.id) AS id,
  q1.k,
  first(q1.st) AS st,
  first(q1.a) AS a
FROM q1
GROUP BY
  q1.k

-- title: grouping sets
{
 "common": {"plan_id": "1108"},
 "aggregate": {
  "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "group_type": "GROUP_TYPE_GROUPING_SETS",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
  "aggregate_expressions": [
   {
    "alias": {
     "expr": {
      "unresolved_function": {
       "function_name": "sum",
       "arguments": [{"unresolved_attribute": {"unparsed_identifier": "w"}}]
      }
     },
     "name": ["s"]
    }
   }
  ],
  "grouping_sets": [
   {"grouping_set": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]},
   {}
  ]
 }
}
-- expected
SELECT
  r.k,
  sum(r.w) AS s
FROM r
GROUP BY
  GROUPING SETS (
    (r.k),
    ()
  )

-- title: having
{
 "common": {"plan_id": "47"},
 "filter": {
  "input": {
   "common": {"plan_id": "46"},
   "aggregate": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "group_type": "GROUP_TYPE_GROUPBY",
    "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
    "aggregate_expressions": [
     {
      "alias": {
       "expr": {
        "unresolved_function": {
         "function_name": "count",
         "arguments": [{"literal": {"integer": 1}}]
        }
       },
       "name": ["count"]
      }
     }
    ]
   }
  },
  "condition": {"expression_string": {"expression": "count > 1"}}
 }
}
-- expected
WITH q1 AS (
  SELECT
    l.k,
    count(1) AS count
  FROM l
  GROUP BY
    l.k
)
SELECT
  q1.k,
  q1.count
FROM q1
WHERE
  q1.count > 1

-- title: rollup
{
 "common": {"plan_id": "17"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_ROLLUP",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
  "aggregate_expressions": [
   {
    "alias": {
     "expr": {
      "unresolved_function": {
       "function_name": "count",
       "arguments": [{"literal": {"integer": 1}}]
      }
     },
     "name": ["count"]
    }
   }
  ]
 }
}
-- expected
SELECT
  l.k,
  count(1) AS count
FROM l
GROUP BY
  ROLLUP (
    l.k
  )

-- title: unknown grouping
{
 "common": {"plan_id": "1"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "group_type": "GROUP_TYPE_UNSPECIFIED",
  "grouping_expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
  "aggregate_expressions": [
   {
    "unresolved_function": {
     "function_name": "sum",
     "arguments": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
    }
   }
  ]
 }
}
-- error
UnsupportedError: in this data frame, UNSPECIFIED has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: duplicates dropped from sorted rows
{
 "common": {
  "plan_id": "12"
 },
 "deduplicate": {
  "input": {
   "common": {
    "plan_id": "11"
   },
   "sort": {
    "input": {
     "common": {
      "plan_id": "0"
     },
     "tracked": {
      "name": "l",
      "columns": [
       "id",
       "k",
       "v"
      ]
     }
    },
    "order": [
     {
      "child": {
       "unresolved_attribute": {
        "unparsed_identifier": "v"
       }
      },
      "direction": "SORT_DIRECTION_DESCENDING",
      "null_ordering": "SORT_NULLS_LAST"
     }
    ],
    "is_global": true
   }
  },
  "column_names": [
   "k"
  ],
  "all_columns_as_keys": false,
  "within_watermark": false
 }
}
-- error
UnsupportedError: in this data frame, dropDuplicates() over sorted rows has no rule: Spark does not say that it keeps the first of them
Number the rows of each key, row_number().over(Window.partitionBy(...).orderBy(...)), and keep those with 1.
