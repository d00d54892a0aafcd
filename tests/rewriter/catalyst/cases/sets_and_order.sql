-- title: except all
[
 {"class": "Except", "num-children": 2, "left": 0, "right": 1, "isAll": true},
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[42, "id"], [43, "k"], [44, "v"]]}
 }
]
-- expected
SELECT
  l.id,
  l.k,
  l.v
FROM l
EXCEPT ALL
SELECT
  l.id,
  l.k,
  l.v
FROM l

-- title: limit of another kind
[
 {
  "class": "GlobalLimit",
  "num-children": 1,
  "limitExpr": [{"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}],
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
     "nullOrdering": {"object": "NullsFirst$"}
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
  "global": true,
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, a limit that is not LIMIT has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: offset
[
 {
  "class": "GlobalLimit",
  "num-children": 1,
  "limitExpr": [{"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}],
  "child": 0
 },
 {
  "class": "LocalLimit",
  "num-children": 1,
  "limitExpr": [{"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}],
  "child": 0
 },
 {
  "class": "Offset",
  "num-children": 1,
  "offsetExpr": [{"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}],
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
  l.id,
  l.k,
  l.v
FROM l
LIMIT 2
OFFSET 1

-- title: order limit
[
 {
  "class": "GlobalLimit",
  "num-children": 1,
  "limitExpr": [{"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}],
  "child": 0
 },
 {
  "class": "LocalLimit",
  "num-children": 1,
  "limitExpr": [{"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}],
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
     "nullOrdering": {"object": "NullsFirst$"}
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
  "global": true,
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
  l.id,
  l.k,
  l.v
FROM l
ORDER BY
  l.id
LIMIT 3

-- title: range
[
 {
  "class": "Range",
  "num-children": 0,
  "start": 0,
  "end": 3,
  "step": 1,
  "numSlices": 1,
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
SELECT
  n.id
FROM range(0, 3, 1, 1) AS n

-- title: recursion
[
 {
  "class": "UnionLoop",
  "num-children": 2,
  "id": 0,
  "anchor": 0,
  "recursion": 1,
  "outputAttrIds": [{"id": 3}]
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 },
 {
  "class": "UnionLoopRef",
  "num-children": 0,
  "loopId": 0,
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    }
   ]
  ],
  "accumulated": false
 }
]
-- error
UnsupportedError: in this data frame, a recursion stands in a part that no text was kept of
Give its text to sql().

-- title: union by name
[
 {
  "class": "Union",
  "num-children": 2,
  "children": [0, 1],
  "byName": false,
  "allowMissingCol": false
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
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
     "exprId": {"id": 35}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 36}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 37}
    }
   ]
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
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 37}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 36}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 35}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[35, "id"], [36, "k"], [37, "v"]]}
 }
]
-- expected
SELECT
  l.id,
  l.k,
  l.v
FROM l
UNION ALL
SELECT
  l.id,
  l.k,
  l.v
FROM l
