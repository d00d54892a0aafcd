-- title: cached
[
 {
  "class": "Aggregate",
  "num-children": 1,
  "groupingExpressions": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    }
   ]
  ],
  "aggregateExpressions": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "count", "exprId": {"id": 218}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {"class": "Count", "num-children": 1, "children": [0]},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
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
SELECT
  l.k,
  count(1) AS count
FROM l
WHERE
  l.id > 1
GROUP BY
  l.k

-- title: constants
[
 {
  "class": "Join",
  "num-children": 2,
  "left": 0,
  "right": 1,
  "joinType": {"object": "Inner$"},
  "condition": [
   {"class": "EqualTo", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "k",
    "dataType": "integer",
    "exprId": {"id": 4}
   },
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "x",
    "dataType": "integer",
    "exprId": {"id": 60}
   }
  ]
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 },
 {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "c"}, "child": 0},
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x", "exprId": {"id": 60}},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "col1",
     "dataType": "integer",
     "exprId": {"id": 58}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "y", "exprId": {"id": 61}},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "col2",
     "dataType": "string",
     "exprId": {"id": 59}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LocalRelation",
  "num-children": 0,
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "col1",
     "dataType": "integer",
     "exprId": {"id": 58}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "col2",
     "dataType": "string",
     "exprId": {"id": 59}
    }
   ]
  ],
  "values": "VALUES (1, 'a'), (CAST(NULL AS INT), 'b') AS v(col1, col2)"
 }
]
-- expected
SELECT
  l.id,
  l.k,
  l.v,
  v.col1 AS x,
  v.col2 AS y
FROM l
JOIN VALUES
  (1, 'a'),
  (CAST(NULL AS INT), 'b') AS v(col1, col2)
  ON l.k = v.col1

-- title: text
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "n",
    "dataType": "long",
    "exprId": {"id": 70}
   },
   {"class": "Literal", "num-children": 0, "value": "1", "dataType": "long"}
  ],
  "child": 0
 },
 {
  "class": "Aggregate",
  "num-children": 1,
  "stated": {"sql": "SELECT k, count(*) AS n FROM q1 GROUP BY k", "columns": [[4, "k"], [70, "n"]]},
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
WITH q1_2 AS (
  SELECT
    k,
    COUNT(*) AS n
  FROM q1
  GROUP BY
    k
)
SELECT
  q1_2.k,
  q1_2.n
FROM q1_2
WHERE
  q1_2.n > 1L

-- title: text alone
[
 {
  "class": "Aggregate",
  "num-children": 1,
  "stated": {
   "sql": "SELECT  k, count(*)  FROM l GROUP BY k",
   "columns": [[4, "k"], [70, "count(1)"]]
  },
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
SELECT  k, count(*)  FROM l GROUP BY k

-- title: untracked
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [{"class": "Literal", "num-children": 0, "value": "true", "dataType": "boolean"}],
  "child": 0
 },
 {
  "class": "LogicalRDD",
  "num-children": 0,
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "long",
     "exprId": {"id": 1}
    }
   ]
  ]
 }
]
-- error
UntrackedError: this data frame reads untracked data: rows of an RDD, of createDataFrame() or of a checkpoint
Track the frame or table that it is made of: ls.track("name", frame, ...). A frame that comes before checkpoint() or .rdd is annotated as it is.

-- title: untracked rows
[
 {
  "class": "LocalRelation",
  "num-children": 0,
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "col1",
     "dataType": "integer",
     "exprId": {"id": 58}
    }
   ]
  ]
 }
]
-- error
UntrackedError: this data frame reads untracked data: rows of createDataFrame()
Track the frame or table that it is made of: ls.track("name", frame, ...).
