-- title: window ignoring nulls
[
 {
  "class": "Window",
  "num-children": 1,
  "windowExpressions": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "w", "exprId": {"id": 80}},
    {"class": "WindowExpression", "num-children": 2, "windowFunction": 0, "windowSpec": 1},
    {
     "class": "Lag",
     "num-children": 3,
     "input": 0,
     "inputOffset": 1,
     "default": 2,
     "ignoreNulls": true
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    },
    {"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": null, "dataType": "void"},
    {
     "class": "WindowSpecDefinition",
     "num-children": 2,
     "partitionSpec": [],
     "orderSpec": [0],
     "frameSpecification": 1
    },
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
    },
    {
     "class": "SpecifiedWindowFrame",
     "num-children": 2,
     "frameType": {"object": "RowFrame$"},
     "lower": 0,
     "upper": 1
    },
    {"class": "Literal", "num-children": 0, "value": "-2", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "-2", "dataType": "integer"}
   ]
  ],
  "partitionSpec": [],
  "orderSpec": [],
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
  l.v,
  lag(l.k, 2, NULL) IGNORE NULLS OVER (ORDER BY l.id) AS w
FROM l

-- title: windows
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "LessThan", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "rn",
    "dataType": "integer",
    "exprId": {"id": 27}
   },
   {"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sm",
     "dataType": "long",
     "exprId": {"id": 29}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "lg",
     "dataType": "integer",
     "exprId": {"id": 31}
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sm",
     "dataType": "long",
     "exprId": {"id": 29}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "lg",
     "dataType": "integer",
     "exprId": {"id": 31}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "lg",
     "dataType": "integer",
     "exprId": {"id": 31}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Window",
  "num-children": 1,
  "windowExpressions": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "lg", "exprId": {"id": 31}},
    {"class": "WindowExpression", "num-children": 2, "windowFunction": 0, "windowSpec": 1},
    {
     "class": "Lag",
     "num-children": 3,
     "input": 0,
     "inputOffset": 1,
     "default": 2,
     "ignoreNulls": false
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": null, "dataType": "void"},
    {
     "class": "WindowSpecDefinition",
     "num-children": 3,
     "partitionSpec": [0],
     "orderSpec": [1],
     "frameSpecification": 2
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    },
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
    },
    {
     "class": "SpecifiedWindowFrame",
     "num-children": 2,
     "frameType": {"object": "RowFrame$"},
     "lower": 0,
     "upper": 0
    },
    {"class": "Literal", "num-children": 0, "value": "-1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "-1", "dataType": "integer"}
   ]
  ],
  "partitionSpec": [
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
  "orderSpec": [
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sm",
     "dataType": "long",
     "exprId": {"id": 29}
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sm",
     "dataType": "long",
     "exprId": {"id": 29}
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sm",
     "dataType": "long",
     "exprId": {"id": 29}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "sm",
     "dataType": "long",
     "exprId": {"id": 29}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Window",
  "num-children": 1,
  "windowExpressions": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "sm", "exprId": {"id": 29}},
    {"class": "WindowExpression", "num-children": 2, "windowFunction": 0, "windowSpec": 1},
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
    },
    {
     "class": "WindowSpecDefinition",
     "num-children": 3,
     "partitionSpec": [0],
     "orderSpec": [1],
     "frameSpecification": 2
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    },
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
    },
    {
     "class": "SpecifiedWindowFrame",
     "num-children": 2,
     "frameType": {"object": "RangeFrame$"},
     "lower": 0,
     "upper": 1
    },
    {"class": "UnboundedPreceding$", "num-children": 0},
    {"class": "CurrentRow$", "num-children": 0}
   ]
  ],
  "partitionSpec": [
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
  "orderSpec": [
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "rn",
     "dataType": "integer",
     "exprId": {"id": 27}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Window",
  "num-children": 1,
  "windowExpressions": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "rn", "exprId": {"id": 27}},
    {"class": "WindowExpression", "num-children": 2, "windowFunction": 0, "windowSpec": 1},
    {"class": "RowNumber", "num-children": 0},
    {
     "class": "WindowSpecDefinition",
     "num-children": 3,
     "partitionSpec": [0],
     "orderSpec": [1],
     "frameSpecification": 2
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    },
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
    },
    {
     "class": "SpecifiedWindowFrame",
     "num-children": 2,
     "frameType": {"object": "RowFrame$"},
     "lower": 0,
     "upper": 1
    },
    {"class": "UnboundedPreceding$", "num-children": 0},
    {"class": "CurrentRow$", "num-children": 0}
   ]
  ],
  "partitionSpec": [
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
  "orderSpec": [
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
    l.v,
    row_number() OVER (PARTITION BY l.k ORDER BY l.id) AS rn
  FROM l
), q2 AS (
  SELECT
    q1.id,
    q1.k,
    q1.v,
    q1.rn,
    sum(q1.id) OVER (PARTITION BY q1.k ORDER BY q1.id) AS sm
  FROM q1
), q3 AS (
  SELECT
    q2.id,
    q2.k,
    q2.v,
    q2.rn,
    q2.sm,
    lag(q2.id, 1, NULL) OVER (PARTITION BY q2.k ORDER BY q2.id) AS lg
  FROM q2
)
SELECT
  q3.id,
  q3.k,
  q3.v,
  q3.rn,
  q3.sm,
  q3.lg
FROM q3
WHERE
  q3.rn < 2
