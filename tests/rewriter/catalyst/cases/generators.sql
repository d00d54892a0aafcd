-- title: explode
[
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "e",
     "dataType": "integer",
     "exprId": {"id": 116}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Generate",
  "num-children": 1,
  "generator": [
   {"class": "Explode", "num-children": 1, "child": 0},
   {
    "class": "CreateArray",
    "num-children": 2,
    "children": [0, 1],
    "useStringTypeWhenEmpty": false
   },
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
    "name": "id",
    "dataType": "integer",
    "exprId": {"id": 3}
   }
  ],
  "outer": false,
  "generatorOutput": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "e",
     "dataType": "integer",
     "exprId": {"id": 116}
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
  l.id,
  g.e
FROM l
LATERAL VIEW
explode(array(l.k, l.id)) g AS e

-- title: json tuple
[
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "c0",
     "dataType": "string",
     "exprId": {"id": 116}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "c1",
     "dataType": "string",
     "exprId": {"id": 117}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Generate",
  "num-children": 1,
  "generator": [
   {"class": "JsonTuple", "num-children": 3, "children": [0, 1, 2]},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "v",
    "dataType": "string",
    "exprId": {"id": 5}
   },
   {"class": "Literal", "num-children": 0, "value": "a", "dataType": "string"},
   {"class": "Literal", "num-children": 0, "value": "b", "dataType": "string"}
  ],
  "outer": false,
  "generatorOutput": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "c0",
     "dataType": "string",
     "exprId": {"id": 116}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "c1",
     "dataType": "string",
     "exprId": {"id": 117}
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
  l.id,
  g.c0,
  g.c1
FROM l
LATERAL VIEW
json_tuple(l.v, 'a', 'b') g AS c0, c1

-- title: lateral call
[
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "e",
     "dataType": "integer",
     "exprId": {"id": 31}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LateralJoin",
  "num-children": 1,
  "left": 0,
  "right": [
   {
    "class": "LateralSubquery",
    "num-children": 1,
    "plan": [
     {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "g"}, "child": 0},
     {
      "class": "Project",
      "num-children": 1,
      "projectList": [
       [
        {"class": "Alias", "num-children": 1, "child": 0, "name": "e", "exprId": {"id": 31}},
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "col",
         "dataType": "integer",
         "exprId": {"id": 30}
        }
       ]
      ],
      "child": 0
     },
     {
      "class": "Generate",
      "num-children": 1,
      "generator": [
       {"class": "Explode", "num-children": 1, "child": 0},
       {
        "class": "CreateArray",
        "num-children": 2,
        "children": [0, 1],
        "useStringTypeWhenEmpty": false
       },
       {
        "class": "OuterReference",
        "num-children": 0,
        "e": [
         {
          "class": "AttributeReference",
          "num-children": 0,
          "name": "id",
          "dataType": "integer",
          "exprId": {"id": 3}
         }
        ]
       },
       {
        "class": "OuterReference",
        "num-children": 0,
        "e": [
         {
          "class": "AttributeReference",
          "num-children": 0,
          "name": "k",
          "dataType": "integer",
          "exprId": {"id": 4}
         }
        ]
       }
      ],
      "unrequiredChildIndex": [],
      "outer": false,
      "generatorOutput": [
       [
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "col",
         "dataType": "integer",
         "exprId": {"id": 30}
        }
       ]
      ],
      "child": 0
     },
     {"class": "OneRowRelation", "num-children": 0}
    ],
    "exprId": {"id": 32},
    "outerAttrs": [0]
   },
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "id",
    "dataType": "integer",
    "exprId": {"id": 3}
   }
  ],
  "joinType": {"object": "Inner$"}
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
  l_2.col AS e
FROM l, LATERAL explode(array(l.id, l.k)) AS l_2(col)

-- title: posexplode outer
[
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "pos",
     "dataType": "integer",
     "exprId": {"id": 118}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "col",
     "dataType": "string",
     "exprId": {"id": 119}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Generate",
  "num-children": 1,
  "generator": [
   {"class": "PosExplode", "num-children": 1, "child": 0},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "p",
    "dataType": {"type": "array", "elementType": "string", "containsNull": false},
    "exprId": {"id": 117}
   }
  ],
  "outer": true,
  "generatorOutput": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "pos",
     "dataType": "integer",
     "exprId": {"id": 118}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "col",
     "dataType": "string",
     "exprId": {"id": 119}
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
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    }
   ],
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "p", "exprId": {"id": 117}},
    {"class": "StringSplit", "num-children": 3, "str": 0, "regex": 1, "limit": 2},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {"class": "Literal", "num-children": 0, "value": "a", "dataType": "string"},
    {"class": "Literal", "num-children": 0, "value": "-1", "dataType": "integer"}
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
WITH q1 AS (
  SELECT
    l.id,
    l.v,
    split(l.v, 'a', -1) AS p
  FROM l
)
SELECT
  q1.id,
  g.pos,
  g.col
FROM q1
LATERAL VIEW OUTER
posexplode(q1.p) g AS pos, col

-- title: unknown generator
[
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "e",
     "dataType": "integer",
     "exprId": {"id": 116}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Generate",
  "num-children": 1,
  "generator": [
   {"class": "SQLKeywords", "num-children": 1, "child": 0},
   {
    "class": "CreateArray",
    "num-children": 2,
    "children": [0, 1],
    "useStringTypeWhenEmpty": false
   },
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
    "name": "id",
    "dataType": "integer",
    "exprId": {"id": 3}
   }
  ],
  "outer": false,
  "generatorOutput": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "e",
     "dataType": "integer",
     "exprId": {"id": 116}
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
UnsupportedError: in this data frame, the generator SQLKeywords has no rule
Compute it before tracking, or write this part as a query for sql().
