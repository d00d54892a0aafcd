-- title: copies of rows
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
    ]
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
UnsupportedError: in this data frame, copies of rows that are not grouping sets have no rule
Compute it before tracking, or write this part as a query for sql().

-- title: expressions
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "(id + 1)", "exprId": {"id": 125}},
    {"class": "Add", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "(id * 1.5)",
     "exprId": {"id": 146}
    },
    {"class": "Multiply", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "Cast",
     "num-children": 1,
     "child": 0,
     "dataType": "double",
     "timeZoneId": "Etc/UTC"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1.5", "dataType": "double"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "try_add(id, 1)",
     "exprId": {"id": 126}
    },
    {
     "class": "TryAdd",
     "num-children": 1,
     "left": [
      {
       "class": "AttributeReference",
       "num-children": 0,
       "name": "id",
       "dataType": "integer",
       "exprId": {"id": 3}
      }
     ],
     "right": [{"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}],
     "replacement": 0
    },
    {"class": "Add", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "id", "exprId": {"id": 127}},
    {
     "class": "Cast",
     "num-children": 1,
     "child": 0,
     "dataType": "string",
     "timeZoneId": "Etc/UTC"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "id", "exprId": {"id": 128}},
    {
     "class": "Cast",
     "num-children": 1,
     "child": 0,
     "dataType": "string",
     "timeZoneId": "Etc/UTC"
    },
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
     "name": "CASE WHEN (id > 1) THEN x ELSE y END",
     "exprId": {"id": 129}
    },
    {
     "class": "CaseWhen",
     "num-children": 3,
     "branches": [
      {
       "_1": [
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
       "_2": [{"class": "Literal", "num-children": 0, "value": "x", "dataType": "string"}]
      }
     ],
     "elseValue": [{"class": "Literal", "num-children": 0, "value": "y", "dataType": "string"}]
    },
    {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "x", "dataType": "string"},
    {"class": "Literal", "num-children": 0, "value": "y", "dataType": "string"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "CASE WHEN (id > 1) THEN x END",
     "exprId": {"id": 130}
    },
    {
     "class": "CaseWhen",
     "num-children": 2,
     "branches": [
      {
       "_1": [
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
       "_2": [{"class": "Literal", "num-children": 0, "value": "x", "dataType": "string"}]
      }
     ]
    },
    {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "x", "dataType": "string"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "coalesce(id, k)",
     "exprId": {"id": 131}
    },
    {"class": "Coalesce", "num-children": 2, "children": [0, 1]},
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
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "concat(v, x)",
     "exprId": {"id": 132}
    },
    {"class": "Concat", "num-children": 2, "children": [0, 1]},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {"class": "Literal", "num-children": 0, "value": "x", "dataType": "string"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "v LIKE a%", "exprId": {"id": 133}},
    {"class": "Like", "num-children": 2, "left": 0, "right": 1, "escapeChar": null},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {"class": "Literal", "num-children": 0, "value": "a%", "dataType": "string"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "RLIKE(v, a)",
     "exprId": {"id": 134}
    },
    {"class": "RLike", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {"class": "Literal", "num-children": 0, "value": "a", "dataType": "string"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "(id IN (1, 2))",
     "exprId": {"id": 135}
    },
    {"class": "In", "num-children": 3, "value": 0, "list": [1, 2]},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "((id >= 1) AND (id <= 3))",
     "exprId": {"id": 136}
    },
    {"class": "And", "num-children": 2, "left": 0, "right": 1},
    {"class": "GreaterThanOrEqual", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "LessThanOrEqual", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "substring(v, 1, 2)",
     "exprId": {"id": 137}
    },
    {"class": "Substring", "num-children": 3, "str": 0, "pos": 1, "len": 2},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "st", "exprId": {"id": 123}},
    {"class": "CreateNamedStruct", "num-children": 4, "children": [0, 1, 2, 3]},
    {"class": "Literal", "num-children": 0, "value": "id", "dataType": "string"},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "k", "dataType": "string"},
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
     "name": "transform(array(id), lambdafunction((namedlambdavariable() + 1), namedlambdavariable()))",
     "exprId": {"id": 147}
    },
    {"class": "ArrayTransform", "num-children": 2, "argument": 0, "function": 1},
    {"class": "CreateArray", "num-children": 1, "children": [0], "useStringTypeWhenEmpty": false},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {
     "class": "LambdaFunction",
     "num-children": 2,
     "function": 0,
     "arguments": [1],
     "hidden": false
    },
    {"class": "Add", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "NamedLambdaVariable",
     "num-children": 0,
     "name": "x_1",
     "dataType": "integer",
     "exprId": {"id": 145},
     "value": null
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {
     "class": "NamedLambdaVariable",
     "num-children": 0,
     "name": "x_1",
     "dataType": "integer",
     "exprId": {"id": 145},
     "value": null
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "nvl(k, 3)", "exprId": {"id": 138}},
    {
     "class": "Nvl",
     "num-children": 1,
     "left": [
      {
       "class": "AttributeReference",
       "num-children": 0,
       "name": "k",
       "dataType": "integer",
       "exprId": {"id": 4}
      }
     ],
     "right": [{"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}],
     "replacement": 0
    },
    {"class": "Coalesce", "num-children": 2, "children": [0, 1]},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    },
    {"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "date_add(DATE '2020-01-31', 1)",
     "exprId": {"id": 139}
    },
    {"class": "DateAdd", "num-children": 2, "startDate": 0, "days": 1},
    {"class": "Literal", "num-children": 0, "value": "2020-01-31", "dataType": "date"},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "upper(v)", "exprId": {"id": 140}},
    {"class": "Upper", "num-children": 1, "child": 0},
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
     "name": "(NOT (k IS NULL))",
     "exprId": {"id": 141}
    },
    {"class": "Not", "num-children": 1, "child": 0},
    {"class": "IsNull", "num-children": 1, "child": 0},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "(k <=> 3)", "exprId": {"id": 142}},
    {"class": "EqualNullSafe", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    },
    {"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "struct(id) AS z.id",
     "exprId": {"id": 148}
    },
    {"class": "GetStructField", "num-children": 1, "child": 0, "ordinal": 0, "name": "id"},
    {"class": "CreateNamedStruct", "num-children": 2, "children": [0, 1]},
    {"class": "Literal", "num-children": 0, "value": "id", "dataType": "string"},
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
     "name": "round(id, 1)",
     "exprId": {"id": 143}
    },
    {"class": "Round", "num-children": 2, "child": 0, "scale": 1, "ansiEnabled": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 3}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "to_date(v)",
     "exprId": {"id": 149}
    },
    {
     "class": "ParseToDate",
     "num-children": 1,
     "left": 0,
     "timeZoneId": "Etc/UTC",
     "ansiEnabled": true
    },
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
     "name": "(NOT (k <=> 3))",
     "exprId": {"id": 144}
    },
    {"class": "Not", "num-children": 1, "child": 0},
    {"class": "EqualNullSafe", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "k",
     "dataType": "integer",
     "exprId": {"id": 4}
    },
    {"class": "Literal", "num-children": 0, "value": "3", "dataType": "integer"}
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
  l.id + 1 AS `(id + 1)`,
  CAST(l.id AS DOUBLE) * 1.5D AS `(id * 1.5)`,
  try_add(l.id, 1) AS `try_add(id, 1)`,
  CAST(l.id AS STRING) AS id,
  CAST(l.id AS STRING) AS id,
  CASE WHEN l.id > 1 THEN 'x' ELSE 'y' END AS `CASE WHEN (id > 1) THEN x ELSE y END`,
  CASE WHEN l.id > 1 THEN 'x' END AS `CASE WHEN (id > 1) THEN x END`,
  coalesce(l.id, l.k) AS `coalesce(id, k)`,
  concat(l.v, 'x') AS `concat(v, x)`,
  l.v LIKE 'a%' AS `v LIKE a%`,
  rlike(l.v, 'a') AS `RLIKE(v, a)`,
  l.id IN (1, 2) AS `(id IN (1, 2))`,
  (
    l.id >= 1
  ) AND (
    l.id <= 3
  ) AS `((id >= 1) AND (id <= 3))`,
  substring(l.v, 1, 2) AS `substring(v, 1, 2)`,
  named_struct('id', l.id, 'k', l.k) AS st,
  transform(array(l.id), x_1_145 -> x_1_145 + 1) AS `transform(array(id), lambdafunction((namedlambdavariable() + 1), namedlambdavariable()))`,
  nvl(l.k, 3) AS `nvl(k, 3)`,
  date_add(DATE '2020-01-31', 1) AS `date_add(DATE '2020-01-31', 1)`,
  upper(l.v) AS `upper(v)`,
  NOT (
    l.k IS NULL
  ) AS `(NOT (k IS NULL))`,
  l.k IS NOT DISTINCT FROM 3 AS `(k <=> 3)`,
  (
    named_struct('id', l.id)
  ).`id` AS `struct(id) AS z.id`,
  round(l.id, 1) AS `round(id, 1)`,
  to_date(l.v) AS `to_date(v)`,
  NOT (
    l.k IS NOT DISTINCT FROM 3
  ) AS `(NOT (k <=> 3))`
FROM l

-- title: named query and subqueries
[
 {"class": "WithCTE", "num-children": 2, "plan": 1, "cteDefs": [0]},
 {
  "class": "CTERelationDef",
  "num-children": 1,
  "child": 0,
  "id": 0,
  "underSubquery": false,
  "forceSkipInline": false
 },
 {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "q"}, "child": 0},
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
    {"class": "Alias", "num-children": 1, "child": 0, "name": "n", "exprId": {"id": 176}},
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
 {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "r"}, "child": 0},
 {"class": "View", "num-children": 1, "isTempView": true, "child": 0},
 {
  "class": "LogicalRDD",
  "num-children": 0,
  "tracked": {"name": "r", "columns": [[6, "rid"], [7, "k"], [8, "w"]]}
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
     "exprId": {"id": 7}
    }
   ],
   [
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "n",
     "dataType": "long",
     "exprId": {"id": 176}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "And", "num-children": 2, "left": 0, "right": 1},
   {"class": "And", "num-children": 2, "left": 0, "right": 1},
   {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
   {
    "class": "Cast",
    "num-children": 1,
    "child": 0,
    "dataType": "double",
    "timeZoneId": "Etc/UTC"
   },
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "n",
    "dataType": "long",
    "exprId": {"id": 176}
   },
   {
    "class": "ScalarSubquery",
    "num-children": 0,
    "plan": [
     {
      "class": "Aggregate",
      "num-children": 1,
      "groupingExpressions": [],
      "aggregateExpressions": [
       [
        {
         "class": "Alias",
         "num-children": 1,
         "child": 0,
         "name": "avg(n)",
         "exprId": {"id": 181}
        },
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
         "name": "n",
         "dataType": "long",
         "exprId": {"id": 179}
        }
       ]
      ],
      "child": 0
     },
     {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "q"}, "child": 0},
     {
      "class": "CTERelationRef",
      "num-children": 0,
      "cteId": 0,
      "_resolved": true,
      "output": [
       [
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "k",
         "dataType": "integer",
         "exprId": {"id": 178}
        }
       ],
       [
        {
         "class": "AttributeReference",
         "num-children": 0,
         "name": "n",
         "dataType": "long",
         "exprId": {"id": 179}
        }
       ]
      ],
      "recursive": false,
      "isUnlimitedRecursion": false
     }
    ],
    "outerAttrs": [],
    "exprId": {"id": 173},
    "joinCond": []
   },
   {
    "class": "Exists",
    "num-children": 1,
    "plan": [
     {
      "class": "Project",
      "num-children": 1,
      "projectList": [
       [
        {"class": "Alias", "num-children": 1, "child": 0, "name": "1", "exprId": {"id": 182}},
        {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
       ]
      ],
      "child": 0
     },
     {
      "class": "Filter",
      "num-children": 1,
      "condition": [
       {"class": "And", "num-children": 2, "left": 0, "right": 1},
       {"class": "EqualTo", "num-children": 2, "left": 0, "right": 1},
       {
        "class": "AttributeReference",
        "num-children": 0,
        "name": "k",
        "dataType": "integer",
        "exprId": {"id": 184}
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
          "exprId": {"id": 7}
         }
        ]
       },
       {"class": "GreaterThan", "num-children": 2, "left": 0, "right": 1},
       {
        "class": "AttributeReference",
        "num-children": 0,
        "name": "w",
        "dataType": "integer",
        "exprId": {"id": 185}
       },
       {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
      ],
      "child": 0
     },
     {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "b"}, "child": 0},
     {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "r"}, "child": 0},
     {"class": "View", "num-children": 1, "isTempView": true, "child": 0},
     {
      "class": "LogicalRDD",
      "num-children": 0,
      "tracked": {"name": "r", "columns": [[183, "rid"], [184, "k"], [185, "w"]]}
     }
    ],
    "outerAttrs": [0],
    "exprId": {"id": 174},
    "joinCond": []
   },
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "k",
    "dataType": "integer",
    "exprId": {"id": 7}
   },
   {"class": "InSubquery", "num-children": 2, "values": [0], "query": 1},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "k",
    "dataType": "integer",
    "exprId": {"id": 7}
   },
   {
    "class": "ListQuery",
    "num-children": 0,
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
         "exprId": {"id": 187}
        }
       ]
      ],
      "child": 0
     },
     {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "r"}, "child": 0},
     {"class": "View", "num-children": 1, "isTempView": true, "child": 0},
     {
      "class": "LogicalRDD",
      "num-children": 0,
      "tracked": {"name": "r", "columns": [[186, "rid"], [187, "k"], [188, "w"]]}
     }
    ],
    "outerAttrs": [],
    "exprId": {"id": 175},
    "numCols": 1,
    "joinCond": []
   }
  ],
  "child": 0
 },
 {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "a"}, "child": 0},
 {"class": "SubqueryAlias", "num-children": 1, "identifier": {"name": "q"}, "child": 0},
 {
  "class": "CTERelationRef",
  "num-children": 0,
  "cteId": 0,
  "_resolved": true,
  "output": [
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
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "n",
     "dataType": "long",
     "exprId": {"id": 176}
    }
   ]
  ],
  "recursive": false,
  "isUnlimitedRecursion": false
 }
]
-- expected
WITH q1 AS (
  SELECT
    r.k,
    count(1) AS n
  FROM r
  GROUP BY
    r.k
)
SELECT
  q1.k,
  q1.n
FROM q1
WHERE
  (
    (
      CAST(q1.n AS DOUBLE) > (
        SELECT
          avg(q1_2.n) AS `avg(n)`
        FROM q1 AS q1_2
      )
    )
    AND EXISTS(
      SELECT
        1 AS `1`
      FROM r
      WHERE
        (
          r.k = q1.k
        ) AND (
          r.w > 1
        )
    )
  )
  AND (
    q1.k IN (
      SELECT
        r.k
      FROM r
    )
  )

-- title: pipe and between
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {
    "class": "Between",
    "num-children": 1,
    "input": [
     {
      "class": "AttributeReference",
      "num-children": 0,
      "name": "id",
      "dataType": "integer",
      "exprId": {"id": 3}
     }
    ],
    "lower": [{"class": "Literal", "num-children": 0, "value": "-3", "dataType": "integer"}],
    "upper": [{"class": "Literal", "num-children": 0, "value": "4", "dataType": "integer"}],
    "replacement": 0
   },
   {"class": "And", "num-children": 2, "left": 0, "right": 1},
   {"class": "Literal", "num-children": 0, "value": "true", "dataType": "boolean"},
   {"class": "Literal", "num-children": 0, "value": "true", "dataType": "boolean"}
  ],
  "child": 0
 },
 {"class": "PipeOperator", "num-children": 1, "child": 0},
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
  l.id BETWEEN (
    -3
  ) AND 4

-- title: repartition and hint
[
 {"class": "ResolvedHint", "num-children": 1, "child": 0, "hints": null},
 {"class": "Repartition", "num-children": 1, "numPartitions": 1, "shuffle": false, "child": 0},
 {
  "class": "RepartitionByExpression",
  "num-children": 1,
  "partitionExpressions": [
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
 {"class": "Repartition", "num-children": 1, "numPartitions": 3, "shuffle": true, "child": 0},
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
