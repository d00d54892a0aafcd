-- title: unknown column
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "z",
     "dataType": "integer",
     "exprId": {"id": 77}
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
UnsupportedError: in this data frame, column z is not one of its input's
Compute it before tracking, or write this part as a query for sql().

-- title: unknown expression
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x", "exprId": {"id": 9}},
    {"class": "MergeAction", "num-children": 0}
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
UnsupportedError: in this data frame, the expression MergeAction has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: unknown operator
[
 {"class": "Unknown", "num-children": 1, "child": 0},
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, the operator Unknown has no rule
Compute it before tracking, or write this part as a query for sql().
