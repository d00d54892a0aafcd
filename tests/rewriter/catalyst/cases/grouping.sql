-- title: aggregate
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "s", "exprId": {"id": 9}},
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "n", "exprId": {"id": 10}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {"class": "Count", "num-children": 1, "children": [0]},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "count(DISTINCT v)",
     "exprId": {"id": 18}
    },
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": true
    },
    {"class": "Count", "num-children": 1, "children": [0]},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "avg(id)", "exprId": {"id": 19}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "isDistinct": false
    },
    {"class": "Average", "num-children": 1, "child": 0},
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
  l.k,
  sum(l.id) AS s,
  count(1) AS n,
  count(DISTINCT l.v) AS `count(DISTINCT v)`,
  avg(l.id) AS `avg(id)`
FROM l
GROUP BY
  l.k

-- title: cube grouping id
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
     "exprId": {"id": 63}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "spark_grouping_id",
     "dataType": "long",
     "exprId": {"id": 62}
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
     "exprId": {"id": 63}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "sum(id)", "exprId": {"id": 59}},
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
     "name": "grouping_id()",
     "exprId": {"id": 60}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "spark_grouping_id",
     "dataType": "long",
     "exprId": {"id": 62}
    }
   ]
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
      "name": "k",
      "dataType": "integer",
      "exprId": {"id": 61}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": "0", "dataType": "long"}]
   ],
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
    [{"class": "Literal", "num-children": 0, "value": null, "dataType": "integer"}],
    [{"class": "Literal", "num-children": 0, "value": "1", "dataType": "long"}]
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
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 63}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "spark_grouping_id",
     "dataType": "long",
     "exprId": {"id": 62}
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "k", "exprId": {"id": 61}},
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
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
SELECT
  l.k,
  sum(l.id) AS `sum(id)`,
  grouping_id() AS `grouping_id()`
FROM l
GROUP BY
  GROUPING SETS (
    (l.k),
    ()
  )

-- title: distinct
[
 {
  "class": "Deduplicate",
  "num-children": 1,
  "keys": [
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
  "child": 0,
  "dedupSpec": null
 },
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
SELECT DISTINCT
  l.k
FROM l

-- title: drop duplicates
[
 {
  "class": "Deduplicate",
  "num-children": 1,
  "keys": [
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
  "child": 0,
  "dedupSpec": null
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
SELECT DISTINCT
  l.id,
  l.k,
  l.v
FROM l

-- title: drop duplicates subset
[
 {
  "class": "Deduplicate",
  "num-children": 1,
  "keys": [
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
  "child": 0,
  "dedupSpec": null
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
SELECT
  first(l.id) AS id,
  l.k,
  first(l.v) AS v
FROM l
GROUP BY
  l.k

-- title: dropna
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "AtLeastNNonNulls", "num-children": 2, "n": 2, "children": [0, 1]},
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
    "name": "x",
    "dataType": "double",
    "exprId": {"id": 4}
   }
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "x"]]}
 }
]
-- expected
SELECT
  l.id,
  l.x
FROM l
WHERE
  l.id IS NOT NULL AND (
    l.x IS NOT NULL AND NOT isnan(l.x)
  )

-- title: dropna threshold
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "AtLeastNNonNulls", "num-children": 3, "n": 2, "children": [0, 1, 2]},
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
   },
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "v",
    "dataType": "string",
    "exprId": {"id": 5}
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
  array_size(array_remove(array(l.id IS NOT NULL, l.k IS NOT NULL, l.v IS NOT NULL), FALSE)) >= 2

-- title: grouping sets repeated
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
     "exprId": {"id": 53}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "spark_grouping_id",
     "dataType": "long",
     "exprId": {"id": 52}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "_gen_grouping_pos",
     "dataType": "integer",
     "exprId": {"id": 51}
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
     "exprId": {"id": 53}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "n", "exprId": {"id": 55}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "mode": {"object": "Complete$"},
     "isDistinct": false,
     "resultId": {"id": 900}
    },
    {"class": "Count", "num-children": 1, "child": 0},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ]
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
      "name": "k",
      "dataType": "integer",
      "exprId": {"id": 50}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": "0", "dataType": "long"}],
    [{"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"}]
   ],
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
      "name": "k",
      "dataType": "integer",
      "exprId": {"id": 50}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": "0", "dataType": "long"}],
    [{"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}]
   ],
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
    [{"class": "Literal", "num-children": 0, "value": null, "dataType": "integer"}],
    [{"class": "Literal", "num-children": 0, "value": "1", "dataType": "long"}],
    [{"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}]
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
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 53}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "spark_grouping_id",
     "dataType": "long",
     "exprId": {"id": 52}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "_gen_grouping_pos",
     "dataType": "integer",
     "exprId": {"id": 51}
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "k", "exprId": {"id": 50}},
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
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
SELECT
  l.k,
  count(1) AS n
FROM l
GROUP BY
  GROUPING SETS (
    (l.k),
    (l.k),
    ()
  )

-- title: python aggregate
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "u", "exprId": {"id": 121}},
    {
     "class": "PythonUDAF",
     "num-children": 1,
     "name": "spread",
     "dataType": "double",
     "children": [0],
     "evalType": 202,
     "udfDeterministic": true,
     "registered": "my_udf"
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
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[3, "id"], [4, "k"], [5, "v"]]}
 }
]
-- expected
SELECT
  l.k,
  my_udf(l.id) AS u
FROM l
GROUP BY
  l.k

-- title: rollup
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
     "exprId": {"id": 53}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 54}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "spark_grouping_id",
     "dataType": "long",
     "exprId": {"id": 52}
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
     "exprId": {"id": 53}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 54}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "count", "exprId": {"id": 45}},
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
      "name": "k",
      "dataType": "integer",
      "exprId": {"id": 50}
     }
    ],
    [
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "v",
      "dataType": "string",
      "exprId": {"id": 51}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": "0", "dataType": "long"}]
   ],
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
      "name": "k",
      "dataType": "integer",
      "exprId": {"id": 50}
     }
    ],
    [{"class": "Literal", "num-children": 0, "value": null, "dataType": "string"}],
    [{"class": "Literal", "num-children": 0, "value": "1", "dataType": "long"}]
   ],
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
    [{"class": "Literal", "num-children": 0, "value": null, "dataType": "integer"}],
    [{"class": "Literal", "num-children": 0, "value": null, "dataType": "string"}],
    [{"class": "Literal", "num-children": 0, "value": "3", "dataType": "long"}]
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
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 53}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 54}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "spark_grouping_id",
     "dataType": "long",
     "exprId": {"id": 52}
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "k", "exprId": {"id": 50}},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "v", "exprId": {"id": 51}},
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
  l.k,
  l.v,
  count(1) AS count
FROM l
GROUP BY
  GROUPING SETS (
    (l.k, l.v),
    (l.k),
    ()
  )

-- title: duplicates dropped from sorted rows
[
 {
  "class": "Deduplicate",
  "num-children": 1,
  "keys": [
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {
      "id": 4
     }
    }
   ]
  ],
  "child": 0,
  "dedupSpec": null
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
     "direction": {
      "object": "Descending$"
     },
     "nullOrdering": {
      "object": "NullsLast$"
     },
     "sameOrderExpressions": []
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "integer",
     "exprId": {
      "id": 5
     }
    }
   ]
  ],
  "global": true,
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {
   "name": "l",
   "columns": [
    [
     3,
     "id"
    ],
    [
     4,
     "k"
    ],
    [
     5,
     "v"
    ]
   ]
  }
 }
]
-- error
UnsupportedError: in this data frame, dropDuplicates() over sorted rows has no rule: Spark does not say that it keeps the first of them
Number the rows of each key, row_number().over(Window.partitionBy(...).orderBy(...)), and keep those with 1.
