-- title: checkpoint
{
 "common": {"plan_id": "1368"},
 "cached_remote_relation": {"relation_id": "cfe2a2ab-055e-4bc8-80ca-460ed0ba392d"}
}
-- error
UntrackedError: this data frame reads untracked data: rows of a checkpoint
Track the frame or table that it is made of: ls.track("name", frame, ...). A frame that comes before checkpoint() or .rdd is annotated as it is.

-- title: no relation
{"common": {"plan_id": "1"}, "project": {"expressions": [{"literal": {"integer": 1}}]}}
-- error
UntrackedError: this data frame reads no relation
Give it a tracked input.

-- title: observed
{
 "common": {"plan_id": "873"},
 "filter": {
  "input": {
   "common": {"plan_id": "872"},
   "collect_metrics": {
    "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
    "name": "o",
    "metrics": [
     {
      "alias": {
       "expr": {
        "unresolved_function": {"function_name": "count", "arguments": [{"unresolved_star": {}}]}
       },
       "name": ["n"]
      }
     }
    ]
   }
  },
  "condition": {"expression_string": {"expression": "k>0"}}
 }
}
-- expected
SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  l.k > 0

-- title: placements
{
 "common": {"plan_id": "764"},
 "sort": {
  "input": {
   "common": {"plan_id": "763"},
   "join": {
    "left": {
     "common": {"plan_id": "760"},
     "repartition": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v"]}
      },
      "num_partitions": 3,
      "shuffle": true
     }
    },
    "right": {
     "common": {"plan_id": "762"},
     "repartition": {
      "input": {
       "common": {"plan_id": "761"},
       "hint": {
        "input": {
         "common": {"plan_id": "1"},
         "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
        },
        "name": "broadcast"
       }
      },
      "num_partitions": 1,
      "shuffle": false
     }
    },
    "join_type": "JOIN_TYPE_INNER",
    "using_columns": ["k"]
   }
  },
  "order": [
   {
    "child": {"unresolved_attribute": {"unparsed_identifier": "id"}},
    "direction": "SORT_DIRECTION_ASCENDING",
    "null_ordering": "SORT_NULLS_FIRST"
   }
  ],
  "is_global": false
 }
}
-- expected
SELECT
  l.k,
  l.id,
  l.v,
  r.rid,
  r.w
FROM l
JOIN r
  ON l.k = r.k

-- title: repartition and hint
{
 "common": {"plan_id": "26"},
 "hint": {
  "input": {
   "common": {"plan_id": "25"},
   "repartition": {
    "input": {
     "common": {"plan_id": "0"},
     "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
    },
    "num_partitions": 3,
    "shuffle": true
   }
  },
  "name": "broadcast"
 }
}
-- expected
SELECT
  l.id,
  l.k,
  l.v,
  l.st,
  l.a
FROM l

-- title: rows of the client
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {"common": {"plan_id": "0"}, "local_relation": {"schema": "id INT"}},
  "expressions": [{"unresolved_attribute": {"unparsed_identifier": "id"}}]
 }
}
-- error
UntrackedError: this data frame reads untracked data: rows of createDataFrame()
Track the frame or table that it is made of: ls.track("name", frame, ...).

-- title: statistics
{
 "common": {"plan_id": "1112"},
 "describe": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}}
 }
}
-- error
UnsupportedError: in this data frame, describe() gives statistics as text, without the rows behind each
Call the aggregates that you need: agg(), or groupBy().agg().
