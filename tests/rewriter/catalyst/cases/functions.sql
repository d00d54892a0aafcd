-- title: functions that share a class
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 16}},
    {
     "class": "ParseToTimestamp",
     "num-children": 1,
     "left": 0,
     "dataType": "timestamp",
     "failOnError": false
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "b", "exprId": {"id": 17}},
    {
     "class": "ParseToTimestamp",
     "num-children": 1,
     "left": 0,
     "dataType": "timestamp_ntz",
     "failOnError": true
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c", "exprId": {"id": 18}},
    {
     "class": "MakeTimestamp",
     "num-children": 6,
     "year": 0,
     "month": 1,
     "day": 1,
     "hour": 1,
     "min": 1,
     "sec": 5,
     "failOnError": false,
     "dataType": "timestamp_ntz"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {
     "class": "Cast",
     "num-children": 1,
     "child": 0,
     "dataType": "decimal(16,6)",
     "evalMode": null
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "d", "exprId": {"id": 19}},
    {
     "class": "BinaryPredicate",
     "num-children": 2,
     "prettyName": "endswith",
     "left": 0,
     "right": 0,
     "shown": "endswith"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "bin",
     "dataType": "binary",
     "exprId": {"id": 3}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "bin",
     "dataType": "binary",
     "exprId": {"id": 3}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "e", "exprId": {"id": 20}},
    {
     "class": "Extract",
     "num-children": 1,
     "field": [{"class": "Literal", "num-children": 0, "value": "YEAR", "dataType": "string"}],
     "source": [
      {
       "class": "AttributeReference",
       "num-children": 0,
       "name": "ts",
       "dataType": "timestamp_ntz",
       "exprId": {"id": 4}
      }
     ],
     "replacement": 0
    },
    {"class": "Year", "num-children": 1, "child": 0},
    {"class": "Cast", "num-children": 1, "child": 0, "dataType": "date", "evalMode": null},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "ts",
     "dataType": "timestamp_ntz",
     "exprId": {"id": 4}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "f", "exprId": {"id": 21}},
    {"class": "TimestampAdd", "num-children": 2, "unit": "DAY", "quantity": 0, "timestamp": 1},
    {"class": "Cast", "num-children": 1, "child": 0, "dataType": "long", "evalMode": null},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "ts",
     "dataType": "timestamp_ntz",
     "exprId": {"id": 4}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "g", "exprId": {"id": 22}},
    {
     "class": "ILike",
     "num-children": 2,
     "left": 0,
     "right": 1,
     "escapeChar": null,
     "shown": "/"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    },
    {"class": "Literal", "num-children": 0, "value": "a/%", "dataType": "string"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "h", "exprId": {"id": 23}},
    {"class": "TryEval", "num-children": 1, "child": 0},
    {"class": "MakeTimestampNTZ", "num-children": 2, "left": 0, "right": 1},
    {
     "class": "ParseToDate",
     "num-children": 1,
     "left": 0,
     "ansiEnabled": true,
     "shown": "to_date"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "ts",
     "dataType": "timestamp_ntz",
     "exprId": {"id": 4}
    },
    {
     "class": "Literal",
     "num-children": 0,
     "value": "01:02:03",
     "dataType": "time(6)",
     "shown": "TIME '01:02:03'"
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- expected
SELECT
  try_to_timestamp(l.v) AS a,
  to_timestamp_ntz(l.v) AS b,
  try_make_timestamp_ntz(l.id, 1, 1, 1, 1, CAST(1 AS DECIMAL(16, 6))) AS c,
  endswith(l.bin, l.bin) AS d,
  date_part('YEAR', l.ts) AS e,
  timestampadd(DAY, CAST(l.id AS BIGINT), l.ts) AS f,
  l.v ILIKE 'a/%' ESCAPE '/' AS g,
  try_make_timestamp_ntz(to_date(l.ts), TIME '01:02:03') AS h
FROM l

-- title: aggregates that share a class
[
 {
  "class": "Aggregate",
  "num-children": 1,
  "groupingExpressions": [],
  "aggregateExpressions": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 24}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "mode": {"object": "org.apache.spark.sql.catalyst.expressions.aggregate.Complete$"},
     "isDistinct": false
    },
    {"class": "Average", "num-children": 1, "child": 0, "evalMode": null, "shown": "try_avg"},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "b", "exprId": {"id": 25}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "mode": {"object": "org.apache.spark.sql.catalyst.expressions.aggregate.Complete$"},
     "isDistinct": false
    },
    {"class": "Sum", "num-children": 1, "child": 0, "evalContext": null, "shown": "try_sum"},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c", "exprId": {"id": 26}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "mode": {"object": "org.apache.spark.sql.catalyst.expressions.aggregate.Complete$"},
     "isDistinct": false
    },
    {"class": "AnyValue", "num-children": 1, "child": 0, "ignoreNulls": true},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "d", "exprId": {"id": 27}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "mode": {"object": "org.apache.spark.sql.catalyst.expressions.aggregate.Complete$"},
     "isDistinct": false
    },
    {
     "class": "MaxMinByK",
     "num-children": 3,
     "valueExpr": 0,
     "orderingExpr": 1,
     "kExpr": 2,
     "reverse": false,
     "shown": "max_by"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    },
    {"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- expected
SELECT
  try_avg(l.id) AS a,
  try_sum(l.id) AS b,
  any_value(l.v, TRUE) AS c,
  max_by(l.v, l.id, 2) AS d
FROM l

-- title: types and options of conversions
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 38}},
    {
     "class": "JsonToStructs",
     "num-children": 1,
     "schema": {
      "type": "struct",
      "fields": [
       {"name": "a", "type": "integer"},
       {"name": "b", "type": {"type": "array", "elementType": "string", "containsNull": true}}
      ]
     },
     "options": null,
     "child": 0,
     "variantAllowDuplicateKeys": false,
     "shown": {"mode": "FAILFAST"}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "b", "exprId": {"id": 39}},
    {
     "class": "StructsToCsv",
     "num-children": 1,
     "options": null,
     "child": 0,
     "shown": {"sep": "|"}
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "st",
     "dataType": {
      "type": "struct",
      "fields": [{"name": "a", "type": "integer"}, {"name": "b", "type": "integer"}]
     },
     "exprId": {"id": 1}
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c", "exprId": {"id": 40}},
    {
     "class": "SchemaOfJson",
     "num-children": 1,
     "child": 0,
     "options": null,
     "shown": {"allowNumericLeadingZeros": "true"}
    },
    {"class": "Literal", "num-children": 0, "value": "{\"a\":1}", "dataType": "string"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "d", "exprId": {"id": 41}},
    {
     "class": "VariantGet",
     "num-children": 2,
     "child": 0,
     "path": 1,
     "targetType": {"type": "array", "elementType": "integer", "containsNull": true},
     "failOnError": true
    },
    {
     "class": "ParseJson",
     "num-children": 1,
     "child": 0,
     "failOnError": true,
     "shown": "parse_json"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    },
    {"class": "Literal", "num-children": 0, "value": "$.a", "dataType": "string"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "e", "exprId": {"id": 42}},
    {"class": "Collate", "num-children": 2, "child": 0, "collation": 1},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 2}
    },
    {
     "class": "ResolvedCollation",
     "num-children": 0,
     "collationName": "UTF8_LCASE",
     "shown": "resolvedcollation"
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- expected
SELECT
  from_json(l.v, 'STRUCT<`a`: INT, `b`: ARRAY<STRING>>', map('mode', 'FAILFAST')) AS a,
  to_csv(l.st, map('sep', '|')) AS b,
  schema_of_json('{"a":1}', map('allowNumericLeadingZeros', 'true')) AS c,
  variant_get(parse_json(l.v), '$.a', 'ARRAY<INT>') AS d,
  collate(l.v, 'UTF8_LCASE') AS e
FROM l

-- title: changed fields of a struct
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 43}},
    {
     "class": "UpdateFields",
     "num-children": 3,
     "structExpr": 0,
     "fieldOps": [1, 2],
     "shown": [
      {"class": "CreateNamedStruct", "num-children": 4, "children": [0, 1, 2, 3]},
      {"class": "Literal", "num-children": 0, "value": "a", "dataType": "string"},
      {"class": "GetStructField", "num-children": 1, "child": 0, "ordinal": 0, "shown": "a"},
      {
       "class": "AttributeReference",
       "num-children": 0,
       "name": "st",
       "dataType": {
        "type": "struct",
        "fields": [{"name": "a", "type": "integer"}, {"name": "b", "type": "integer"}]
       },
       "exprId": {"id": 1}
      },
      {"class": "Literal", "num-children": 0, "value": "c", "dataType": "string"},
      {
       "class": "AttributeReference",
       "num-children": 0,
       "name": "id",
       "dataType": "integer",
       "exprId": {"id": 0}
      }
     ]
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "st",
     "dataType": {
      "type": "struct",
      "fields": [{"name": "a", "type": "integer"}, {"name": "b", "type": "integer"}]
     },
     "exprId": {"id": 1}
    },
    {"class": "WithField", "num-children": 1, "name": "c", "valExpr": 0},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    },
    {"class": "DropField", "num-children": 0, "name": "b", "shown": "dropfield"}
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- expected
SELECT
  named_struct('a', l.st.`a`, 'c', l.id) AS a
FROM l

-- title: changed fields that Spark was not asked about
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 43}},
    {"class": "UpdateFields", "num-children": 3, "structExpr": 0, "fieldOps": [1, 2]},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "st",
     "dataType": {
      "type": "struct",
      "fields": [{"name": "a", "type": "integer"}, {"name": "b", "type": "integer"}]
     },
     "exprId": {"id": 1}
    },
    {"class": "WithField", "num-children": 1, "name": "c", "valExpr": 0},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    },
    {"class": "DropField", "num-children": 0, "name": "b"}
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- error
UnsupportedError: in this data frame, withField() or dropFields() in this place has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: literals that a plan does not show
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 44}},
    {
     "class": "Literal",
     "num-children": 0,
     "value": "[B@44f72801",
     "dataType": "binary",
     "shown": "X'6162'"
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "b", "exprId": {"id": 45}},
    {
     "class": "Literal",
     "num-children": 0,
     "value": "01:02:03",
     "dataType": "time(6)",
     "shown": "TIME '01:02:03'"
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- expected
SELECT
  X'6162' AS a,
  TIME '01:02:03' AS b
FROM l

-- title: arrays that Spark casts itself
[
 {
  "class": "Aggregate",
  "num-children": 1,
  "groupingExpressions": [],
  "aggregateExpressions": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "a", "exprId": {"id": 46}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "mode": {"object": "org.apache.spark.sql.catalyst.expressions.aggregate.Complete$"},
     "isDistinct": false
    },
    {
     "class": "Percentile",
     "num-children": 3,
     "child": 0,
     "percentageExpression": 1,
     "frequencyExpression": 2,
     "reverse": false,
     "shown": "percentile"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    },
    {
     "class": "CreateArray",
     "num-children": 2,
     "children": [0, 1],
     "useStringTypeWhenEmpty": false
    },
    {"class": "Literal", "num-children": 0, "value": "0.25", "dataType": "double"},
    {"class": "Cast", "num-children": 1, "child": 0, "dataType": "double", "evalMode": null},
    {"class": "Literal", "num-children": 0, "value": "0.5", "dataType": "decimal(1,1)"},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- expected
SELECT
  percentile(l.id, array(0.25D, CAST(0.5BD AS DOUBLE)), 1) AS a
FROM l

-- title: refused product
[
 {
  "class": "Aggregate",
  "num-children": 1,
  "groupingExpressions": [],
  "aggregateExpressions": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "p", "exprId": {"id": 54}},
    {
     "class": "AggregateExpression",
     "num-children": 1,
     "aggregateFunction": 0,
     "mode": {"object": "org.apache.spark.sql.catalyst.expressions.aggregate.Complete$"},
     "isDistinct": false
    },
    {"class": "Product", "num-children": 1, "child": 0, "shown": "product"},
    {"class": "Cast", "num-children": 1, "child": 0, "dataType": "double", "evalMode": null},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "integer",
     "exprId": {"id": 0}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- error
UnsupportedError: in this data frame, product() is not a function of SQL
Write it as aggregate(collect_list(x), 1D, (a, b) -> a * b).

-- title: refused random number without a seed
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "r", "exprId": {"id": 62}},
    {"class": "Rand", "num-children": 1, "child": 0, "hideSeed": true},
    {"class": "Literal", "num-children": 0, "value": "-5689321166612518651", "dataType": "long"}
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- error
UnsupportedError: in this data frame, a random number without a seed, in a text, has another one in each reading of it
Call F.rand() or F.randn(), or write the seed.

-- title: refused function without a name in SQL
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "h", "exprId": {"id": 63}},
    {"class": "Hours", "num-children": 1, "child": 0, "shown": "hours"},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "ts",
     "dataType": "timestamp_ntz",
     "exprId": {"id": 4}
    }
   ]
  ],
  "child": 0
 },
 {
  "class": "LogicalRelation",
  "num-children": 0,
  "tracked": {"name": "l", "columns": [[0, "id"], [1, "st"], [2, "v"], [3, "bin"], [4, "ts"], [5, "arr"]]}
 }
]
-- error
UnsupportedError: in this data frame, the function hours has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: array literal whose elements may be NULL
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x0", "exprId": {"id": 90}},
    {
     "class": "Literal",
     "num-children": 0,
     "value": "[a,b]",
     "dataType": {"type": "array", "elementType": "string", "containsNull": true},
     "shown": "ARRAY('a', 'b')"
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
  CAST(ARRAY('a', 'b') AS ARRAY<STRING>) AS x0
FROM l

-- title: registered function of the JVM over a value that is not NULL
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x0", "exprId": {"id": 90}},
    {
     "class": "ScalaUDF",
     "num-children": 1,
     "children": [0],
     "udfName": "twice",
     "registered": true
    },
    {"class": "KnownNotNull", "num-children": 1, "child": 0},
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
  twice(l.id) AS x0
FROM l

-- title: function of the JVM with a name that is not registered
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x0", "exprId": {"id": 90}},
    {
     "class": "ScalaUDF",
     "num-children": 1,
     "children": [0],
     "udfName": "bucketizer",
     "registered": false
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
-- error
UnsupportedError: in this data frame, a function of the JVM has no name, as those of pyspark.ml
Register it with spark.udf.registerJavaFunction, and call it by its name; or transform the answer, model.transform(q.df), or track what the transformer made.

-- title: sample of strata
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x0", "exprId": {"id": 90}},
    {
     "class": "ScalaUDF",
     "num-children": 2,
     "children": [0, 1],
     "udfName": null,
     "registered": false
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "string",
     "exprId": {"id": 5}
    },
    {"class": "Rand", "num-children": 1, "child": 0, "hideSeed": false},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "long"}
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
UnsupportedError: in this data frame, sampleBy() has no rule
Sample each stratum, where(column == value).sample(fraction), and unite them.

-- title: frequent items
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x0", "exprId": {"id": 90}},
    {
     "class": "CollectFrequentItems",
     "num-children": 1,
     "child": 0,
     "size": 2,
     "shown": "collect_frequent_items"
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
UnsupportedError: in this data frame, freqItems() is not a function of SQL
Count the values: groupBy(column).count().

-- title: tried cast
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x0", "exprId": {"id": 90}},
    {
     "class": "Cast",
     "num-children": 1,
     "child": 0,
     "dataType": "integer",
     "evalMode": null,
     "shown": "TRY"
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
  TRY_CAST(l.v AS INT) AS x0
FROM l
