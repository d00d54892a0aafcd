-- title: random part of sorted
{
 "common": {"plan_id": "3"},
 "filter": {
  "input": {
   "common": {"plan_id": "2"},
   "filter": {
    "input": {
     "common": {},
     "sort": {
      "input": {
       "common": {"plan_id": "0"},
       "tracked": {"name": "l", "columns": ["id", "k", "v"]}
      },
      "order": [
       {
        "child": {"unresolved_attribute": {"unparsed_identifier": "id"}},
        "direction": "SORT_DIRECTION_ASCENDING",
        "null_ordering": "SORT_NULLS_FIRST"
       },
       {
        "child": {"unresolved_attribute": {"unparsed_identifier": "k"}},
        "direction": "SORT_DIRECTION_ASCENDING",
        "null_ordering": "SORT_NULLS_FIRST"
       }
      ],
      "is_global": false
     }
    },
    "condition": {"expression_string": {"expression": "rand(3L) >= 0.5D AND rand(3L) < 0.8D"}}
   }
  },
  "condition": {
   "unresolved_function": {
    "function_name": ">",
    "arguments": [
     {"unresolved_attribute": {"unparsed_identifier": "id"}},
     {"literal": {"integer": 1}}
    ]
   }
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
  SORT BY
    l.id,
    l.k
), q2 AS (
  SELECT
    q1.id,
    q1.k,
    q1.v
  FROM q1
  WHERE
    rand(3L) >= 0.5D AND rand(3L) < 0.8D
)
SELECT
  q2.id,
  q2.k,
  q2.v
FROM q2
WHERE
  q2.id > 1

-- title: sample
{
 "common": {"plan_id": "1"},
 "sample": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "upper_bound": 0.5,
  "seed": "3"
 }
}
-- expected
SELECT
  l.id,
  l.k,
  l.v,
  l.st,
  l.a
FROM l TABLESAMPLE (50 PERCENT) REPEATABLE (3)

-- title: sample of negative seed
{
 "common": {"plan_id": "1"},
 "sample": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "upper_bound": 0.5,
  "seed": "-3"
 }
}
-- error
UnsupportedError: in this data frame, a sample in a subquery that is not a percentage from a seed has no rule
Take a sample() of a percentage, with a seed from zero on, or track it.

-- title: sample of range
{
 "common": {"plan_id": "1"},
 "sample": {
  "input": {"common": {"plan_id": "0"}, "range": {"start": "0", "end": "9", "step": "1"}},
  "upper_bound": 0.5,
  "seed": "3"
 }
}
-- expected
WITH q1 AS (
  SELECT
    n.id
  FROM range(0, 9, 1) AS n
)
SELECT
  q1.id
FROM q1 TABLESAMPLE (50 PERCENT) REPEATABLE (3)

-- title: sample of split
{
 "common": {"plan_id": "731"},
 "sample": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "lower_bound": 0.3,
  "upper_bound": 1.0,
  "with_replacement": false,
  "seed": "1",
  "deterministic_order": true
 }
}
-- error
UnsupportedError: in this data frame, a sample in a subquery that is not a percentage from a seed has no rule
Take a sample() of a percentage, with a seed from zero on, or track it.
