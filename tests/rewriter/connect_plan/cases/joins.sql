-- title: full join using
{
 "common": {"plan_id": "35"},
 "join": {
  "left": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "right": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "join_type": "JOIN_TYPE_FULL_OUTER",
  "using_columns": ["k"]
 }
}
-- expected
SELECT
  coalesce(l.k, r.k) AS k,
  l.id,
  l.v,
  l.st,
  l.a,
  r.rid,
  r.w
FROM l
FULL JOIN r
  ON l.k = r.k

-- title: join using
{
 "common": {"plan_id": "5"},
 "join": {
  "left": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "right": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "join_type": "JOIN_TYPE_INNER",
  "using_columns": ["k"]
 }
}
-- expected
SELECT
  l.k,
  l.id,
  l.v,
  l.st,
  l.a,
  r.rid,
  r.w
FROM l
JOIN r
  ON l.k = r.k

-- title: lateral join
{
 "common": {"plan_id": "675"},
 "project": {
  "input": {
   "common": {"plan_id": "674"},
   "lateral_join": {
    "left": {
     "common": {"plan_id": "671"},
     "subquery_alias": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v"]}
      },
      "alias": "o"
     }
    },
    "right": {
     "common": {"plan_id": "673"},
     "project": {
      "input": {
       "common": {"plan_id": "672"},
       "filter": {
        "input": {
         "common": {"plan_id": "1"},
         "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
        },
        "condition": {
         "unresolved_function": {
          "function_name": "==",
          "arguments": [
           {"unresolved_attribute": {"unparsed_identifier": "k"}},
           {"unresolved_attribute": {"unparsed_identifier": "o.k"}}
          ]
         }
        }
       }
      },
      "expressions": [{"unresolved_attribute": {"unparsed_identifier": "w"}}]
     }
    },
    "join_type": "JOIN_TYPE_INNER"
   }
  },
  "expressions": [
   {"unresolved_attribute": {"unparsed_identifier": "id"}},
   {"unresolved_attribute": {"unparsed_identifier": "w"}}
  ]
 }
}
-- expected
SELECT
  l.id,
  l_2.w
FROM l, LATERAL (
  SELECT
    r.w
  FROM r
  WHERE
    r.k = l.k
) AS l_2

-- title: lateral join condition
{
 "common": {"plan_id": "685"},
 "lateral_join": {
  "left": {
   "common": {"plan_id": "681"},
   "subquery_alias": {
    "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
    "alias": "o"
   }
  },
  "right": {
   "common": {"plan_id": "684"},
   "project": {
    "input": {
     "common": {"plan_id": "683"},
     "filter": {
      "input": {
       "common": {"plan_id": "682"},
       "subquery_alias": {
        "input": {
         "common": {"plan_id": "1"},
         "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
        },
        "alias": "i"
       }
      },
      "condition": {
       "unresolved_function": {
        "function_name": ">",
        "arguments": [
         {"unresolved_attribute": {"unparsed_identifier": "i.w"}},
         {"unresolved_attribute": {"unparsed_identifier": "o.id"}}
        ]
       }
      }
     }
    },
    "expressions": [
     {"unresolved_attribute": {"unparsed_identifier": "rid"}},
     {"unresolved_attribute": {"unparsed_identifier": "w"}}
    ]
   }
  },
  "join_condition": {
   "unresolved_function": {
    "function_name": "==",
    "arguments": [
     {"unresolved_attribute": {"unparsed_identifier": "rid"}},
     {"unresolved_attribute": {"unparsed_identifier": "o.k"}}
    ]
   }
  },
  "join_type": "JOIN_TYPE_LEFT_OUTER"
 }
}
-- expected
SELECT
  l.id,
  l.k,
  l.v,
  l_2.rid,
  l_2.w
FROM l
LEFT JOIN LATERAL (
  SELECT
    r.rid,
    r.w
  FROM r
  WHERE
    r.w > l.id
) AS l_2
  ON l_2.rid = l.k

-- title: lateral join steps
{
 "common": {"plan_id": "693"},
 "project": {
  "input": {
   "common": {"plan_id": "692"},
   "lateral_join": {
    "left": {
     "common": {"plan_id": "686"},
     "subquery_alias": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v"]}
      },
      "alias": "o"
     }
    },
    "right": {
     "common": {"plan_id": "691"},
     "project": {
      "input": {
       "common": {"plan_id": "690"},
       "limit": {
        "input": {
         "common": {"plan_id": "689"},
         "sort": {
          "input": {
           "common": {"plan_id": "688"},
           "filter": {
            "input": {
             "common": {"plan_id": "687"},
             "subquery_alias": {
              "input": {
               "common": {"plan_id": "1"},
               "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
              },
              "alias": "i"
             }
            },
            "condition": {
             "unresolved_function": {
              "function_name": "==",
              "arguments": [
               {"unresolved_attribute": {"unparsed_identifier": "i.k"}},
               {"unresolved_attribute": {"unparsed_identifier": "o.k"}}
              ]
             }
            }
           }
          },
          "order": [
           {
            "child": {"unresolved_attribute": {"unparsed_identifier": "w"}},
            "direction": "SORT_DIRECTION_DESCENDING",
            "null_ordering": "SORT_NULLS_LAST"
           }
          ],
          "is_global": true
         }
        },
        "limit": 1
       }
      },
      "expressions": [{"unresolved_attribute": {"unparsed_identifier": "w"}}]
     }
    },
    "join_type": "JOIN_TYPE_INNER"
   }
  },
  "expressions": [
   {"unresolved_attribute": {"unparsed_identifier": "id"}},
   {"unresolved_attribute": {"unparsed_identifier": "w"}}
  ]
 }
}
-- error
UnsupportedError: in this data frame, a lateral join or a subquery refers to the other frame before its last steps
Call select() before orderBy() and limit(), and aggregate last; or write this part as a query for sql().

-- title: left join
{
 "common": {"plan_id": "4"},
 "project": {
  "input": {
   "common": {"plan_id": "3"},
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
    "join_type": "JOIN_TYPE_LEFT_OUTER"
   }
  },
  "expressions": [
   {"unresolved_attribute": {"unparsed_identifier": "id", "plan_id": "0"}},
   {"unresolved_attribute": {"unparsed_identifier": "w", "plan_id": "1"}},
   {"unresolved_attribute": {"unparsed_identifier": "v"}}
  ]
 }
}
-- expected
SELECT
  l.id,
  r.w,
  l.v
FROM l
LEFT JOIN r
  ON l.k = r.k

-- title: sample of join
{
 "common": {"plan_id": "728"},
 "aggregate": {
  "input": {
   "common": {"plan_id": "727"},
   "sample": {
    "input": {
     "common": {"plan_id": "726"},
     "join": {
      "left": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
      "right": {
       "common": {"plan_id": "1"},
       "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
      },
      "join_type": "JOIN_TYPE_INNER",
      "using_columns": ["k"]
     }
    },
    "upper_bound": 0.5,
    "with_replacement": false,
    "seed": "3"
   }
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
}
-- expected
WITH q1 AS (
  SELECT
    l.k,
    l.id,
    l.v,
    r.rid,
    r.w
  FROM l
  JOIN r
    ON l.k = r.k
)
SELECT
  q1.k,
  count(1) AS count
FROM q1 TABLESAMPLE (50 PERCENT) REPEATABLE (3)
GROUP BY
  q1.k

-- title: self join
{
 "common": {"plan_id": "31"},
 "project": {
  "input": {
   "common": {"plan_id": "30"},
   "join": {
    "left": {
     "common": {"plan_id": "28"},
     "subquery_alias": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
      },
      "alias": "a"
     }
    },
    "right": {
     "common": {"plan_id": "29"},
     "subquery_alias": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
      },
      "alias": "b"
     }
    },
    "join_condition": {
     "unresolved_function": {
      "function_name": "==",
      "arguments": [
       {"unresolved_attribute": {"unparsed_identifier": "a.k"}},
       {"unresolved_attribute": {"unparsed_identifier": "b.k"}}
      ]
     }
    },
    "join_type": "JOIN_TYPE_INNER"
   }
  },
  "expressions": [
   {"unresolved_attribute": {"unparsed_identifier": "a.id"}},
   {
    "alias": {
     "expr": {"unresolved_attribute": {"unparsed_identifier": "b.id"}},
     "name": ["other"]
    }
   }
  ]
 }
}
-- expected
SELECT
  l.id,
  l_2.id AS other
FROM l
JOIN l AS l_2
  ON l.k = l_2.k
