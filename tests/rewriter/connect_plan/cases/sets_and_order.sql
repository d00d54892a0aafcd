-- title: set operations
{
 "common": {"plan_id": "41"},
 "deduplicate": {
  "input": {
   "common": {"plan_id": "40"},
   "set_op": {
    "left_input": {
     "common": {"plan_id": "38"},
     "set_op": {
      "left_input": {
       "common": {"plan_id": "36"},
       "project": {
        "input": {
         "common": {"plan_id": "0"},
         "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
        },
        "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
       }
      },
      "right_input": {
       "common": {"plan_id": "37"},
       "project": {
        "input": {
         "common": {"plan_id": "1"},
         "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
        },
        "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
       }
      },
      "set_op_type": "SET_OP_TYPE_UNION",
      "is_all": true,
      "by_name": false,
      "allow_missing_columns": false
     }
    },
    "right_input": {
     "common": {"plan_id": "39"},
     "project": {
      "input": {
       "common": {"plan_id": "1"},
       "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
      },
      "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
     }
    },
    "set_op_type": "SET_OP_TYPE_EXCEPT",
    "is_all": true,
    "by_name": false,
    "allow_missing_columns": false
   }
  },
  "all_columns_as_keys": true,
  "within_watermark": false
 }
}
-- expected
WITH q1 AS (
  SELECT
    l.k
  FROM l
  UNION ALL
  SELECT
    r.k
  FROM r
), q2 AS (
  SELECT
    q1.k
  FROM q1
  EXCEPT ALL
  SELECT
    r.k
  FROM r
)
SELECT DISTINCT
  q2.k
FROM q2

-- title: union by name
{
 "common": {"plan_id": "44"},
 "set_op": {
  "left_input": {
   "common": {"plan_id": "42"},
   "project": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "expressions": [
     {"unresolved_attribute": {"unparsed_identifier": "id"}},
     {"unresolved_attribute": {"unparsed_identifier": "k"}}
    ]
   }
  },
  "right_input": {
   "common": {"plan_id": "43"},
   "project": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "expressions": [
     {"unresolved_attribute": {"unparsed_identifier": "k"}},
     {"unresolved_attribute": {"unparsed_identifier": "id"}}
    ]
   }
  },
  "set_op_type": "SET_OP_TYPE_UNION",
  "is_all": true,
  "by_name": true,
  "allow_missing_columns": false
 }
}
-- expected
SELECT
  l.id,
  l.k
FROM l
UNION ALL
SELECT
  l.id,
  l.k
FROM l

-- title: union missing columns
{
 "common": {"plan_id": "3"},
 "set_op": {
  "left_input": {
   "common": {"plan_id": "1"},
   "project": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "expressions": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
   }
  },
  "right_input": {
   "common": {"plan_id": "1"},
   "project": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
   }
  },
  "set_op_type": "SET_OP_TYPE_UNION",
  "is_all": true,
  "by_name": true,
  "allow_missing_columns": true
 }
}
-- expected
SELECT
  l.id,
  CAST(NULL AS INT) AS k
FROM l
UNION ALL
SELECT
  CAST(NULL AS INT) AS id,
  l.k
FROM l

-- title: union other names
{
 "common": {"plan_id": "3"},
 "set_op": {
  "left_input": {
   "common": {"plan_id": "1"},
   "project": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "expressions": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
   }
  },
  "right_input": {
   "common": {"plan_id": "1"},
   "project": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
   }
  },
  "set_op_type": "SET_OP_TYPE_UNION",
  "is_all": true,
  "by_name": true
 }
}
-- error
UnsupportedError: in this data frame, column id is one of several, or none
Compute it before tracking, or write this part as a query for sql().

-- title: window limit
{
 "common": {"plan_id": "9"},
 "limit": {
  "input": {
   "common": {"plan_id": "8"},
   "sort": {
    "input": {
     "common": {"plan_id": "7"},
     "filter": {
      "input": {
       "common": {"plan_id": "6"},
       "with_columns": {
        "input": {
         "common": {"plan_id": "0"},
         "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
        },
        "aliases": [
         {
          "expr": {
           "window": {
            "window_function": {"unresolved_function": {"function_name": "row_number"}},
            "partition_spec": [{"unresolved_attribute": {"unparsed_identifier": "k"}}],
            "order_spec": [
             {
              "child": {"unresolved_attribute": {"unparsed_identifier": "id"}},
              "direction": "SORT_DIRECTION_DESCENDING",
              "null_ordering": "SORT_NULLS_LAST"
             }
            ],
            "frame_spec": {
             "frame_type": "FRAME_TYPE_ROW",
             "lower": {"value": {"literal": {"integer": -1}}},
             "upper": {"current_row": true}
            }
           }
          },
          "name": ["rn"]
         }
        ]
       }
      },
      "condition": {"expression_string": {"expression": "rn < 2"}}
     }
    },
    "order": [
     {
      "child": {"unresolved_attribute": {"unparsed_identifier": "id"}},
      "direction": "SORT_DIRECTION_ASCENDING",
      "null_ordering": "SORT_NULLS_FIRST"
     }
    ],
    "is_global": true
   }
  },
  "limit": 3
 }
}
-- expected
WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v,
    l.st,
    l.a,
    row_number() OVER (PARTITION BY l.k ORDER BY l.id DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS rn
  FROM l
)
SELECT
  q1.id,
  q1.k,
  q1.v,
  q1.st,
  q1.a,
  q1.rn
FROM q1
WHERE
  q1.rn < 2
ORDER BY
  q1.id
LIMIT 3
