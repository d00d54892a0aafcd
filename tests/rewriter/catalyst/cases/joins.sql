-- title: existence join
[
 {
  "class": "Join",
  "num-children": 2,
  "left": 0,
  "right": 1,
  "joinType": {"object": "org.apache.spark.sql.catalyst.plans.ExistenceJoin"},
  "condition": null
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "r", "columns": [[6, "id"], [7, "k"], [8, "w"]]}
 }
]
-- error
UnsupportedError: in this data frame, a join of type ExistenceJoin has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: full join using
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "k", "exprId": {"id": 21}},
    {"class": "Coalesce", "num-children": 2, "children": [0, 1]},
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
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 7}
    }
   ],
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
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rid",
     "dataType": "integer",
     "exprId": {"id": 6}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "w",
     "dataType": "integer",
     "exprId": {"id": 8}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Join",
  "num-children": 2,
  "left": 0,
  "right": 1,
  "joinType": {"object": "FullOuter$"},
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
    "name": "k",
    "dataType": "integer",
    "exprId": {"id": 7}
   }
  ]
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 },
 {
  "class": "LogicalRDD",
  "num-children": 0,
  "tracked": {"name": "r", "columns": [[6, "rid"], [7, "k"], [8, "w"]]}
 }
]
-- expected
SELECT
  coalesce(l.k, r.k) AS k,
  l.id,
  l.v,
  r.rid,
  r.w
FROM l
FULL JOIN r
  ON l.k = r.k

-- title: having in subquery
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {
    "class": "Exists",
    "num-children": 1,
    "plan": [
     {
      "class": "Project",
      "num-children": 1,
      "projectList": [
       [
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "k",
         "dataType": "integer",
         "exprId": {"id": 7}
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
        "name": "s",
        "dataType": "long",
        "exprId": {"id": 90}
       },
       {"class": "Literal", "num-children": 0, "value": "1", "dataType": "long"}
      ],
      "child": 0
     },
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
         "exprId": {"id": 7}
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
         "exprId": {"id": 7}
        }
       ],
       [
        {"class": "Alias", "num-children": 1, "child": 0, "name": "s", "exprId": {"id": 90}},
        {
         "class": "AggregateExpression",
         "num-children": 1,
         "aggregateFunction": 0,
         "mode": {"object": "Complete$"},
         "isDistinct": false,
         "resultId": {"id": 900}
        },
        {"class": "Sum", "num-children": 1, "child": 0},
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "w",
         "dataType": "integer",
         "exprId": {"id": 8}
        }
       ]
      ],
      "child": 0
     },
     {
      "class": "Filter",
      "num-children": 1,
      "condition": [
       {"class": "EqualTo", "num-children": 2, "left": 0, "right": 1},
       {
        "class": "AttributeReference",
        "num-children": 0,
        "name": "k",
        "dataType": "integer",
        "exprId": {"id": 7}
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
      "child": 0
     },
     {
      "class": "LogicalRDD",
      "num-children": 0,
      "tracked": {"name": "r", "columns": [[6, "rid"], [7, "k"], [8, "w"]]}
     }
    ],
    "outerAttrs": [0],
    "exprId": {"id": 91}
   },
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "k",
    "dataType": "integer",
    "exprId": {"id": 4}
   }
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
  l.k,
  l.v
FROM l
WHERE
  EXISTS(
    SELECT
      r.k
    FROM r
    WHERE
      r.k = l.k
    GROUP BY
      r.k
    HAVING
      sum(r.w) > 1L
  )

-- title: lateral join of another type
[
 {
  "class": "LateralJoin",
  "num-children": 1,
  "left": 0,
  "right": [
   {
    "class": "LateralSubquery",
    "num-children": 0,
    "plan": [
     {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "x"}, "child": 0},
     {
      "class": "Aggregate",
      "num-children": 1,
      "groupingExpressions": [],
      "aggregateExpressions": [
       [
        {"class": "Alias", "num-children": 1, "child": 0, "name": "s", "exprId": {"id": 20}},
        {
         "class": "AggregateExpression",
         "num-children": 1,
         "aggregateFunction": 0,
         "mode": {"object": "Complete$"},
         "isDistinct": false,
         "resultId": {"id": 900}
        },
        {"class": "Sum", "num-children": 1, "child": 0},
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "w",
         "dataType": "integer",
         "exprId": {"id": 8}
        }
       ]
      ],
      "child": 0
     },
     {
      "class": "Filter",
      "num-children": 1,
      "condition": [
       {"class": "EqualTo", "num-children": 2, "left": 0, "right": 1},
       {
        "class": "AttributeReference",
        "num-children": 0,
        "name": "k",
        "dataType": "integer",
        "exprId": {"id": 7}
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
      "child": 0
     },
     {
      "class": "LogicalRDD",
      "num-children": 0,
      "tracked": {"name": "r", "columns": [[6, "rid"], [7, "k"], [8, "w"]]}
     }
    ],
    "exprId": {"id": 21},
    "outerAttrs": []
   }
  ],
  "joinType": {"object": "Unknown$"}
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- error
UnsupportedError: in this data frame, a lateral join of type Unknown has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: lateral subquery
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
     "name": "s",
     "dataType": "long",
     "exprId": {"id": 20}
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
     {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "x"}, "child": 0},
     {
      "class": "Aggregate",
      "num-children": 1,
      "groupingExpressions": [],
      "aggregateExpressions": [
       [
        {"class": "Alias", "num-children": 1, "child": 0, "name": "s", "exprId": {"id": 20}},
        {
         "class": "AggregateExpression",
         "num-children": 1,
         "aggregateFunction": 0,
         "mode": {"object": "Complete$"},
         "isDistinct": false,
         "resultId": {"id": 900}
        },
        {"class": "Sum", "num-children": 1, "child": 0},
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "w",
         "dataType": "integer",
         "exprId": {"id": 8}
        }
       ]
      ],
      "child": 0
     },
     {
      "class": "Filter",
      "num-children": 1,
      "condition": [
       {"class": "EqualTo", "num-children": 2, "left": 0, "right": 1},
       {
        "class": "AttributeReference",
        "num-children": 0,
        "name": "k",
        "dataType": "integer",
        "exprId": {"id": 7}
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
      "child": 0
     },
     {
      "class": "LogicalRDD",
      "num-children": 0,
      "tracked": {"name": "r", "columns": [[6, "rid"], [7, "k"], [8, "w"]]}
     }
    ],
    "exprId": {"id": 21},
    "outerAttrs": [0]
   },
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "k",
    "dataType": "integer",
    "exprId": {"id": 4}
   }
  ],
  "joinType": {"object": "LeftOuter$"},
  "condition": [{"class": "Literal", "num-children": 0, "value": "true", "dataType": "boolean"}]
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
  l_2.s
FROM l
LEFT JOIN LATERAL (
  SELECT
    sum(r.w) AS s
  FROM r
  WHERE
    r.k = l.k
) AS l_2
  ON TRUE

-- title: self join
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "bid", "exprId": {"id": 26}},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 22}
    }
   ]
  ],
  "child": 0
 },
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
    "name": "k",
    "dataType": "integer",
    "exprId": {"id": 23}
   }
  ]
 },
 {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "a"}, "child": 0},
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 },
 {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "b"}, "child": 0},
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[22, "id"], [23, "k"], [24, "v"]]}
 }
]
-- expected
SELECT
  l.id,
  l_2.id AS bid
FROM l
JOIN l AS l_2
  ON l.k = l_2.k
