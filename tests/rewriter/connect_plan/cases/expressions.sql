-- title: ambiguous
{
 "common": {"plan_id": "49"},
 "project": {
  "input": {
   "common": {"plan_id": "48"},
   "join": {
    "left": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "right": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
    "join_condition": {
     "unresolved_function": {
      "function_name": "==",
      "arguments": [
       {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "0"}},
       {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "1"}}
      ]
     }
    },
    "join_type": "JOIN_TYPE_INNER"
   }
  },
  "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
 }
}
-- error
UnsupportedError: in this data frame, column k is one of several
Give the frames an alias(), or the columns different names.

-- title: cast to array
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [
   {
    "cast": {
     "expr": {"unresolved_attribute": {"unparsed_identifier": "id"}},
     "type": {"array": {"element_type": {"integer": {}}}}
    }
   }
  ]
 }
}
-- error
UnsupportedError: in this data frame, a cast to a type that is not text has no rule
Name the type.

-- title: cast to type
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [
   {
    "cast": {
     "expr": {"unresolved_attribute": {"unparsed_identifier": "id"}},
     "type": {"integer": {}}
    }
   }
  ]
 }
}
-- expected
SELECT
  CAST(l.id AS INT) AS `name 0`
FROM l

-- title: drop
{
 "common": {"plan_id": "45"},
 "drop": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "column_names": ["st", "a"]
 }
}
-- expected
SELECT
  l.id,
  l.k,
  l.v
FROM l

-- title: explode
{
 "common": {"plan_id": "18"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [
   {
    "alias": {
     "expr": {
      "unresolved_function": {
       "function_name": "explode",
       "arguments": [
        {
         "unresolved_function": {
          "function_name": "array",
          "arguments": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
         }
        }
       ]
      }
     },
     "name": ["z"]
    }
   },
   {"unresolved_star": {}}
  ]
 }
}
-- expected
SELECT
  g.z,
  l.id,
  l.k,
  l.v,
  l.st,
  l.a
FROM l
LATERAL VIEW
explode(array(l.k)) g AS z

-- title: expressions
{
 "common": {"plan_id": "22"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [
   {
    "unresolved_function": {
     "function_name": "when",
     "arguments": [
      {
       "unresolved_function": {
        "function_name": ">",
        "arguments": [
         {"unresolved_attribute": {"unparsed_identifier": "id"}},
         {"literal": {"integer": 1}}
        ]
       }
      },
      {"literal": {"string": "x"}},
      {"literal": {"string": "y"}}
     ]
    }
   },
   {"literal": {"double": 1.5}},
   {"unresolved_attribute": {"unparsed_identifier": "st.x"}},
   {
    "unresolved_extract_value": {
     "child": {"unresolved_attribute": {"unparsed_identifier": "st"}},
     "extraction": {"literal": {"string": "y"}}
    }
   },
   {
    "unresolved_function": {
     "function_name": "transform",
     "arguments": [
      {"unresolved_attribute": {"unparsed_identifier": "a"}},
      {
       "lambda_function": {
        "function": {
         "unresolved_function": {
          "function_name": "+",
          "arguments": [
           {"unresolved_named_lambda_variable": {"name_parts": ["x_0"]}},
           {"literal": {"integer": 1}}
          ]
         }
        },
        "arguments": [{"name_parts": ["x_0"]}]
       }
      }
     ]
    }
   },
   {"expression_string": {"expression": "a+1"}},
   {
    "cast": {
     "expr": {"unresolved_attribute": {"unparsed_identifier": "id"}},
     "type_str": "string"
    }
   },
   {
    "unresolved_function": {
     "function_name": "in",
     "arguments": [
      {"unresolved_attribute": {"unparsed_identifier": "id"}},
      {"literal": {"integer": 1}},
      {"literal": {"integer": 2}}
     ]
    }
   }
  ]
 }
}
-- expected
SELECT
  CASE WHEN l.id > 1 THEN 'x' ELSE 'y' END AS `name 0`,
  1.5D AS `name 1`,
  l.st.`x` AS `name 2`,
  l.st.`y` AS `name 3`,
  transform(l.a, x_0 -> x_0 + 1) AS `name 4`,
  l.a + 1 AS `name 5`,
  CAST(l.id AS STRING) AS `name 6`,
  l.id IN (1, 2) AS `name 7`
FROM l

-- title: extract
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [
   {
    "unresolved_function": {
     "function_name": "extract",
     "arguments": [
      {"literal": {"string": "WEEK"}},
      {"unresolved_attribute": {"unparsed_identifier": "v"}}
     ]
    }
   }
  ]
 }
}
-- expected
SELECT
  date_part('WEEK', l.v) AS `name 0`
FROM l

-- title: literal interval
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [{"literal": {"calendar_interval": {"months": 1}}}]
 }
}
-- error
UnsupportedError: in this data frame, a literal of type calendar_interval has no text
Compute it before tracking, or write this part as a query for sql().

-- title: renamed
{
 "common": {"plan_id": "23"},
 "with_columns_renamed": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "renames": [{"col_name": "id", "new_col_name": "i"}]
 }
}
-- expected
SELECT
  l.id AS i,
  l.k,
  l.v,
  l.st,
  l.a
FROM l

-- title: same names
{
 "common": {"plan_id": "34"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "33"},
   "with_columns": {
    "input": {
     "common": {"plan_id": "32"},
     "join": {
      "left": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
      },
      "right": {
       "common": {"plan_id": "1"},
       "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
      },
      "join_condition": {
       "unresolved_function": {
        "function_name": "==",
        "arguments": [
         {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "0"}},
         {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "1"}}
        ]
       }
      },
      "join_type": "JOIN_TYPE_INNER"
     }
    },
    "aliases": [
     {
      "expr": {
       "unresolved_function": {
        "function_name": "+",
        "arguments": [
         {"unresolved_attribute": {"unparsed_identifier": "id", "plan_id": "0"}},
         {"literal": {"integer": 1}}
        ]
       }
      },
      "name": ["c"]
     }
    ]
   }
  },
  "group_type": "GROUP_TYPE_GROUPBY",
  "grouping_expressions": [
   {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "0"}},
   {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "1"}}
  ],
  "aggregate_expressions": [
   {
    "alias": {
     "expr": {
      "unresolved_function": {
       "function_name": "sum",
       "arguments": [{"unresolved_attribute": {"unparsed_identifier": "c"}}]
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
    l.id,
    l.k,
    l.v,
    l.st,
    l.a,
    r.rid,
    r.k AS k_2,
    r.w,
    l.id + 1 AS c
  FROM l
  JOIN r
    ON l.k = r.k
)
SELECT
  q1.k,
  q1.k_2 AS k,
  sum(q1.c) AS s
FROM q1
GROUP BY
  q1.k,
  q1.k_2

-- title: star of struct
{
 "common": {"plan_id": "640"},
 "project": {
  "input": {
   "common": {"plan_id": "639"},
   "subquery_alias": {
    "input": {
     "common": {"plan_id": "638"},
     "project": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v"]}
      },
      "expressions": [
       {
        "alias": {
         "expr": {
          "unresolved_function": {
           "function_name": "struct",
           "arguments": [
            {"unresolved_attribute": {"unparsed_identifier": "id"}},
            {"unresolved_attribute": {"unparsed_identifier": "k"}}
           ]
          }
         },
         "name": ["p"]
        }
       },
       {"unresolved_attribute": {"unparsed_identifier": "v"}}
      ]
     }
    },
    "alias": "t"
   }
  },
  "expressions": [
   {"unresolved_star": {"unparsed_target": "t.p.*"}},
   {"unresolved_star": {"unparsed_target": "t.*"}}
  ]
 }
}
-- expected
SELECT
  (
    struct(l.id, l.k)
  ).`id` AS id,
  (
    struct(l.id, l.k)
  ).`k` AS k,
  struct(l.id, l.k) AS p,
  l.v
FROM l

-- title: try cast
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [
   {
    "cast": {
     "expr": {"unresolved_attribute": {"unparsed_identifier": "v"}},
     "type_str": "int",
     "eval_mode": "EVAL_MODE_TRY"
    }
   }
  ]
 }
}
-- expected
SELECT
  TRY_CAST(l.v AS INT) AS `name 0`
FROM l

-- title: unit of time
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [
   {
    "unresolved_function": {
     "function_name": "timestampadd",
     "arguments": [
      {"literal": {"string": "HOUR"}},
      {"literal": {"integer": 5}},
      {"unresolved_attribute": {"unparsed_identifier": "v"}}
     ]
    }
   }
  ]
 }
}
-- expected
SELECT
  timestampadd(HOUR, 5, l.v) AS `name 0`
FROM l

-- title: unknown column
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [{"unresolved_attribute": {"unparsed_identifier": "unknown"}}]
 }
}
-- error
UnsupportedError: in this data frame, column unknown is not one of its input's
Select it before it is used.

-- title: unknown expression
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [{"merge_action": {}}]
 }
}
-- error
UnsupportedError: in this data frame, the expression merge_action has no rule
Compute it before tracking, or write this part as a query for sql().
