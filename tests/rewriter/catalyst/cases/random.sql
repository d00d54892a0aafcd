-- title: random part of sorted
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "id",
    "dataType": "integer",
    "exprId": {"id": 3}
   },
   {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
  ],
  "child": 0
 },
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "LessThan", "num-children": 2, "left": 0, "right": 1},
   {"class": "Rand", "num-children": 1, "child": 0, "hideSeed": false},
   {"class": "Literal", "num-children": 0, "value": "-4", "dataType": "long"},
   {"class": "Literal", "num-children": 0, "value": "0.5", "dataType": "double"}
  ],
  "child": 0
 },
 {
  "class": "Sort",
  "num-children": 1,
  "order": [
   [
    {
     "class": "SortOrder",
     "num-children": 1,
     "child": 0,
     "direction": {"object": "Ascending$"},
     "nullOrdering": {"object": "NullsFirst$"},
     "sameOrderExpressions": []
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    }
   ]
  ],
  "global": false,
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v
  FROM l
  SORT BY
    l.id
), q2 AS (
  SELECT
    q1.id,
    q1.k,
    q1.v
  FROM q1
  WHERE
    rand(-4L) < 0.5D
)
SELECT
  q2.id,
  q2.k,
  q2.v
FROM q2
WHERE
  q2.id > 1

-- title: random split
[
 {
  "class": "Sample",
  "num-children": 1,
  "lowerBound": 0.5,
  "upperBound": 1.0,
  "withReplacement": false,
  "seed": 3,
  "child": 0,
  "sampleMethod": {"object": "SampleMethod$Bernoulli$"}
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, a sample in a subquery that is not a percentage from a seed has no rule
Take a sample() of a percentage, with a seed from zero on, or track it.

-- title: random values
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "LessThan", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "r",
    "dataType": "double",
    "exprId": {"id": 9}
   },
   {"class": "Literal", "num-children": 0, "value": "0.5", "dataType": "double"}
  ],
  "child": 0
 },
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "r", "exprId": {"id": 9}},
    {"class": "Rand", "num-children": 1, "child": 0, "hideSeed": false},
    {"class": "Literal", "num-children": 0, "value": "-4", "dataType": "long"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "i", "exprId": {"id": 10}},
    {"class": "MonotonicallyIncreasingID", "num-children": 0}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "u", "exprId": {"id": 11}},
    {"class": "Uuid", "num-children": 0, "randomSeed": 7}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "s", "exprId": {"id": 12}},
    {"class": "Shuffle", "num-children": 1, "child": 0, "randomSeed": -8},
    {
     "class": "CreateArray",
     "num-children": 2,
     "children": [0, 1],
     "useStringTypeWhenEmpty": false
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "id",
    "dataType": "integer",
    "exprId": {"id": 3}
   },
   {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
WITH q1 AS (
  SELECT
    l.id,
    rand(-4L) AS r,
    monotonically_increasing_id() AS i,
    uuid(7L) AS u,
    shuffle(array(l.id, l.k), -8L) AS s
  FROM l
  WHERE
    l.id > 1
)
SELECT
  q1.id,
  q1.r,
  q1.i,
  q1.u,
  q1.s
FROM q1
WHERE
  q1.r < 0.5D

-- title: sample
[
 {
  "class": "Sample",
  "num-children": 1,
  "lowerBound": 0.0,
  "upperBound": 0.5,
  "withReplacement": false,
  "seed": 1426353286513059885,
  "child": 0,
  "sampleMethod": {"object": "SampleMethod$Bernoulli$"}
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
SELECT
  l.id,
  l.k,
  l.v
FROM l TABLESAMPLE (50 PERCENT) REPEATABLE (1426353286513059885)

-- title: sample of sample
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "id",
    "dataType": "integer",
    "exprId": {"id": 3}
   },
   {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
  ],
  "child": 0
 },
 {
  "class": "Sample",
  "num-children": 1,
  "lowerBound": 0.0,
  "upperBound": 0.07,
  "withReplacement": false,
  "seed": 3,
  "child": 0,
  "sampleMethod": {"object": "SampleMethod$Bernoulli$"}
 },
 {
  "class": "Sample",
  "num-children": 1,
  "lowerBound": 0.0,
  "upperBound": 0.5,
  "withReplacement": false,
  "seed": 3,
  "child": 0,
  "sampleMethod": {"object": "SampleMethod$Bernoulli$"}
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v
  FROM l TABLESAMPLE (50 PERCENT) REPEATABLE (3)
)
SELECT
  q1.id,
  q1.k,
  q1.v
FROM q1 TABLESAMPLE (7 PERCENT) REPEATABLE (3)
WHERE
  q1.id > 1

-- title: sample of range
[
 {
  "class": "Sample",
  "num-children": 1,
  "lowerBound": 0.0,
  "upperBound": 0.5,
  "withReplacement": false,
  "seed": 3,
  "child": 0,
  "sampleMethod": {"object": "SampleMethod$Bernoulli$"}
 },
 {
  "class": "Range",
  "num-children": 0,
  "start": 0,
  "end": 9,
  "step": 1,
  "numSlices": 2,
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "long",
     "exprId": {"id": 193}
    }
   ]
  ]
 }
]
-- expected
WITH q1 AS (
  SELECT
    n.id
  FROM range(0, 9, 1, 2) AS n
)
SELECT
  q1.id
FROM q1 TABLESAMPLE (50 PERCENT) REPEATABLE (3)

-- title: sample with replacement
[
 {
  "class": "Sample",
  "num-children": 1,
  "lowerBound": 0.0,
  "upperBound": 0.5,
  "withReplacement": true,
  "seed": 3,
  "child": 0,
  "sampleMethod": {"object": "SampleMethod$Bernoulli$"}
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, a sample with replacement has no rule
Take a sample(False, ...), or track it.
