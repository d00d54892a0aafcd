-- title: pivot
[
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
     "exprId": {"id": 4}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 76}},
    {"class": "GetArrayItem", "num-children": 2, "child": 0, "ordinal": 1, "failOnError": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "__pivot_sum(id) AS `sum(id)`",
     "dataType": {"type": "array", "elementType": "long", "containsNull": true},
     "exprId": {"id": 75}
    },
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "b", "exprId": {"id": 77}},
    {"class": "GetArrayItem", "num-children": 2, "child": 0, "ordinal": 1, "failOnError": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "__pivot_sum(id) AS `sum(id)`",
     "dataType": {"type": "array", "elementType": "long", "containsNull": true},
     "exprId": {"id": 75}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ]
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
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "__pivot_sum(id) AS `sum(id)`",
     "exprId": {"id": 75}
    },
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {
     "class": "PivotFirst",
     "num-children": 2,
     "pivotColumn": 0,
     "valueColumn": 1,
     "pivotColumnValues": ["a", "b"]
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sum(id)",
     "dataType": "long",
     "exprId": {"id": 69}
    }
   ]
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "sum(id)", "exprId": {"id": 69}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {"class": "Sum", "num-children": 1, "child": 0},
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
-- expected
SELECT
  p.k,
  p.v0 AS a,
  p.v1 AS b
FROM (
  SELECT
    *
  FROM l
  PIVOT(sum(l.id) AS a0 FOR v IN ('a' AS v0, 'b' AS v1))
) AS p

-- title: pivot of two
[
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
     "exprId": {"id": 4}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a_s", "exprId": {"id": 103}},
    {"class": "GetArrayItem", "num-children": 2, "child": 0, "ordinal": 1, "failOnError": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "__pivot_sum(id) AS s AS `sum(id) AS s`",
     "dataType": {"type": "array", "elementType": "long", "containsNull": true},
     "exprId": {"id": 96}
    },
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a_m", "exprId": {"id": 104}},
    {"class": "GetArrayItem", "num-children": 2, "child": 0, "ordinal": 1, "failOnError": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "__pivot_max(id) AS m AS `max(id) AS m`",
     "dataType": {"type": "array", "elementType": "integer", "containsNull": true},
     "exprId": {"id": 102}
    },
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "b_s", "exprId": {"id": 105}},
    {"class": "GetArrayItem", "num-children": 2, "child": 0, "ordinal": 1, "failOnError": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "__pivot_sum(id) AS s AS `sum(id) AS s`",
     "dataType": {"type": "array", "elementType": "long", "containsNull": true},
     "exprId": {"id": 96}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "b_m", "exprId": {"id": 106}},
    {"class": "GetArrayItem", "num-children": 2, "child": 0, "ordinal": 1, "failOnError": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "__pivot_max(id) AS m AS `max(id) AS m`",
     "dataType": {"type": "array", "elementType": "integer", "containsNull": true},
     "exprId": {"id": 102}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ]
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
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "__pivot_sum(id) AS s AS `sum(id) AS s`",
     "exprId": {"id": 96}
    },
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {
     "class": "PivotFirst",
     "num-children": 2,
     "pivotColumn": 0,
     "valueColumn": 1,
     "pivotColumnValues": ["a", "b"]
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sum(id) AS s",
     "dataType": "long",
     "exprId": {"id": 89}
    }
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "__pivot_max(id) AS m AS `max(id) AS m`",
     "exprId": {"id": 102}
    },
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {
     "class": "PivotFirst",
     "num-children": 2,
     "pivotColumn": 0,
     "valueColumn": 1,
     "pivotColumnValues": ["a", "b"]
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "max(id) AS m",
     "dataType": "integer",
     "exprId": {"id": 90}
    }
   ]
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
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "sum(id) AS s",
     "exprId": {"id": 89}
    },
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {"class": "Sum", "num-children": 1, "child": 0},
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
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "max(id) AS m",
     "exprId": {"id": 90}
    },
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {"class": "Max", "num-children": 1, "child": 0},
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
-- expected
SELECT
  p.k,
  p.v0_a0 AS a_s,
  p.v0_a1 AS a_m,
  p.v1_a0 AS b_s,
  p.v1_a1 AS b_m
FROM (
  SELECT
    *
  FROM l
  PIVOT(sum(l.id) AS a0, max(l.id) AS a1 FOR v IN ('a' AS v0, 'b' AS v1))
) AS p

-- title: unpivot
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "IsNotNull", "num-children": 1, "child": 0},
   {"class": "Coalesce", "num-children": 1, "children": [0]},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "value",
    "dataType": "integer",
    "exprId": {"id": 41}
   }
  ],
  "child": 0
 },
 {
  "class": "Expand",
  "num-children": 1,
  "projections": [
   [
    [
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "v",
      "dataType": "string",
      "exprId": {"id": 5}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": "id", "dataType": "string"}],
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
   [
    [
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "v",
      "dataType": "string",
      "exprId": {"id": 5}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": "k", "dataType": "string"}],
    [
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "k",
      "dataType": "integer",
      "exprId": {"id": 4}
     }
    ]
   ]
  ],
  "output": [
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
     "name": "n",
     "dataType": "string",
     "exprId": {"id": 40}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "value",
     "dataType": "integer",
     "exprId": {"id": 41}
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
WITH q1 AS (
  SELECT
    l.id,
    l.k,
    l.v
  FROM l
)
SELECT
  p.v,
  p.n,
  p.value
FROM q1
UNPIVOT INCLUDE NULLS (value FOR n IN (id AS id, k AS k)) AS p
WHERE
  coalesce(p.value) IS NOT NULL

-- title: unpivot of expression
[
 {
  "class": "Expand",
  "num-children": 1,
  "projections": [
   [
    [{"class": "Literal", "num-children": 0, "value": "id", "dataType": "string"}],
    [
     {"class": "UnaryMinus", "num-children": 1, "child": 0},
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "id",
      "dataType": "integer",
      "exprId": {"id": 3}
     }
    ]
   ]
  ],
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "n",
     "dataType": "string",
     "exprId": {"id": 40}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "value",
     "dataType": "integer",
     "exprId": {"id": 41}
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
WITH q1 AS (
  SELECT
    l.id,
    -l.id AS value
  FROM l
), q2 AS (
  SELECT
    q1.value
  FROM q1
)
SELECT
  p.n,
  p.value
FROM q2
UNPIVOT INCLUDE NULLS (value FOR n IN (value AS id)) AS p

-- title: unpivot of kept column
[
 {
  "class": "Expand",
  "num-children": 1,
  "projections": [
   [
    [
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "id",
      "dataType": "integer",
      "exprId": {"id": 3}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": "id", "dataType": "string"}],
    [
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "id",
      "dataType": "integer",
      "exprId": {"id": 3}
     }
    ]
   ]
  ],
  "output": [
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
     "name": "n",
     "dataType": "string",
     "exprId": {"id": 40}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "value",
     "dataType": "integer",
     "exprId": {"id": 41}
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
UnsupportedError: in this data frame, unpivot() of a column that is kept too has no rule
Add a copy of the column.

-- title: unpivot of pairs
[
 {
  "class": "Expand",
  "num-children": 1,
  "projections": [
   [
    [{"class": "Literal", "num-children": 0, "value": "a", "dataType": "string"}],
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
    ]
   ],
   [
    [{"class": "Literal", "num-children": 0, "value": "b", "dataType": "string"}],
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
      "name": "id",
      "dataType": "integer",
      "exprId": {"id": 3}
     }
    ]
   ]
  ],
  "output": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "n",
     "dataType": "string",
     "exprId": {"id": 40}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "x",
     "dataType": "integer",
     "exprId": {"id": 41}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "y",
     "dataType": "integer",
     "exprId": {"id": 42}
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
WITH q1 AS (
  SELECT
    l.id,
    l.k
  FROM l
)
SELECT
  p.n,
  p.x,
  p.y
FROM q1
UNPIVOT INCLUDE NULLS ((x, y) FOR n IN ((id, k) AS a, (k, id) AS b)) AS p
