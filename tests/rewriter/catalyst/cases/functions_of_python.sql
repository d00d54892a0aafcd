-- title: apply in pandas
[
 {"class": "FlatMapGroupsInPandas", "num-children": 1, "child": 0},
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, groupBy().applyInPandas in a subquery has no rule
Write the subquery as a join.

-- title: function of the jvm
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x", "exprId": {"id": 9}},
    {"class": "ScalaUDF", "num-children": 1, "children": [0], "udfName": null},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, a function of the JVM has no name, as those of pyspark.ml
Register it with spark.udf.registerJavaFunction, and call it by its name; or transform the answer, model.transform(q.df), or track what the transformer made.

-- title: python function
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "u", "exprId": {"id": 121}},
    {
     "class": "PythonUDF",
     "num-children": 1,
     "name": "<lambda>",
     "dataType": "string",
     "children": [0],
     "evalType": 101,
     "udfDeterministic": true,
     "registered": "my_udf"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    }
   ]
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
  my_udf(l.v) AS u
FROM l

-- title: python function without name
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "u", "exprId": {"id": 121}},
    {
     "class": "PythonUDF",
     "num-children": 1,
     "name": "<lambda>",
     "dataType": "string",
     "children": [0],
     "evalType": 101,
     "udfDeterministic": true
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, the function <lambda> is not registered
Register it with spark.udf.register, and call it by its name.

-- title: rows by python
[
 {
  "class": "MapPartitionsInR",
  "num-children": 1,
  "child": 0,
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 10}
    }
   ]
  ]
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, dapply makes rows of which nothing says what they came from
Use expressions, a udf() of one row, or in SQL a table function of partitions, f(TABLE(t) PARTITION BY k); or track the frame that it returns.

-- title: apply with state
[
 {"class": "FlatMapGroupsInPandasWithState", "num-children": 1, "child": 0},
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, groupBy().applyInPandasWithState keeps a state of its own from one micro-batch to the next
Use what keeps a state that is followed: a grouping by keys, by window() or by session_window(), dropDuplicates(), or a join of streams; or track the folder that the stream is written to, and query that.

-- title: transform with state
[
 {"class": "TransformWithStateInPySpark", "num-children": 1, "child": 0},
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, groupBy().transformWithState keeps a state of its own from one micro-batch to the next
Use what keeps a state that is followed: a grouping by keys, by window() or by session_window(), dropDuplicates(), or a join of streams; or track the folder that the stream is written to, and query that.
