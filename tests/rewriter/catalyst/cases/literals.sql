-- title: like with escape
[
 {
  "class": "Filter",
  "num-children": 1,
  "condition": [
   {"class": "Like", "num-children": 2, "left": 0, "right": 1, "escapeChar": "/"},
   {
    "class": "AttributeReference",
    "num-children": 0,
    "name": "v",
    "dataType": "string",
    "exprId": {"id": 5}
   },
   {"class": "Literal", "num-children": 0, "value": "a/%%", "dataType": "string"}
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
  l.v LIKE 'a/%%' ESCAPE '/'

-- title: literal binary
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c0", "exprId": {"id": 150}},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c1", "exprId": {"id": 151}},
    {"class": "Literal", "num-children": 0, "value": "1.5", "dataType": "double"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c2", "exprId": {"id": 152}},
    {"class": "Literal", "num-children": 0, "value": "it's", "dataType": "string"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c3", "exprId": {"id": 153}},
    {"class": "Literal", "num-children": 0, "value": "true", "dataType": "boolean"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c4", "exprId": {"id": 154}},
    {"class": "Literal", "num-children": 0, "value": null, "dataType": "void"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c5", "exprId": {"id": 155}},
    {"class": "Literal", "num-children": 0, "value": "1.50", "dataType": "decimal(3,2)"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c6", "exprId": {"id": 156}},
    {"class": "Literal", "num-children": 0, "value": "2020-01-31", "dataType": "date"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c7", "exprId": {"id": 157}},
    {
     "class": "Literal",
     "num-children": 0,
     "value": "2020-01-31 01:02:03.000004",
     "dataType": "timestamp"
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c8", "exprId": {"id": 158}},
    {
     "class": "Literal",
     "num-children": 0,
     "value": "97200000000",
     "dataType": "interval day to second"
    }
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c9", "exprId": {"id": 159}},
    {"class": "Literal", "num-children": 0, "value": "[B@4e7da8a3", "dataType": "binary"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c10", "exprId": {"id": 160}},
    {"class": "Literal", "num-children": 0, "value": "1000000000000", "dataType": "long"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c11", "exprId": {"id": 161}},
    {"class": "Literal", "num-children": 0, "value": "NaN", "dataType": "double"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "c12", "exprId": {"id": 162}},
    {"class": "Literal", "num-children": 0, "value": "Infinity", "dataType": "double"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "ar", "exprId": {"id": 163}},
    {
     "class": "CreateArray",
     "num-children": 2,
     "children": [0, 1],
     "useStringTypeWhenEmpty": false
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "2", "dataType": "integer"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "1", "exprId": {"id": 164}},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "short"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "1", "exprId": {"id": 165}},
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "byte"}
   ],
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "1.0", "exprId": {"id": 166}},
    {"class": "Literal", "num-children": 0, "value": "1.0", "dataType": "float"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "INTERVAL '1' YEAR",
     "exprId": {"id": 167}
    },
    {"class": "Literal", "num-children": 0, "value": "12", "dataType": "interval year"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "TIMESTAMP_NTZ '2020-01-01 00:00:00'",
     "exprId": {"id": 168}
    },
    {
     "class": "Literal",
     "num-children": 0,
     "value": "1577836800000000",
     "dataType": "timestamp_ntz"
    }
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "make_interval(1, 0, 0, 0, 0, 0, 0.000000)",
     "exprId": {"id": 169}
    },
    {
     "class": "MakeInterval",
     "num-children": 7,
     "years": 0,
     "months": 1,
     "weeks": 1,
     "days": 1,
     "hours": 1,
     "mins": 1,
     "secs": 6,
     "failOnError": true
    },
    {"class": "Literal", "num-children": 0, "value": "1", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "0", "dataType": "integer"},
    {"class": "Literal", "num-children": 0, "value": "0.000000", "dataType": "decimal(18,6)"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "CAST(q AS STRING)",
     "exprId": {"id": 170}
    },
    {
     "class": "Cast",
     "num-children": 1,
     "child": 0,
     "dataType": "string",
     "timeZoneId": "Etc/UTC"
    },
    {"class": "Literal", "num-children": 0, "value": "q", "dataType": "string"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "collate(a, unicode)",
     "exprId": {"id": 171}
    },
    {"class": "Collate", "num-children": 2, "child": 0, "collation": 1},
    {"class": "Literal", "num-children": 0, "value": "a", "dataType": "string"},
    {"class": "ResolvedCollation", "num-children": 0, "collationName": "unicode"}
   ],
   [
    {
     "class": "Alias",
     "num-children": 1,
     "child": 0,
     "name": "TIME '10:00:00'",
     "exprId": {"id": 172}
    },
    {"class": "Literal", "num-children": 0, "value": "10:00:00", "dataType": "time(6)"}
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
UnsupportedError: in this data frame, a literal of type BINARY has no text
Compute it before tracking, or write this part as a query for sql().

-- title: time as number
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x", "exprId": {"id": 9}},
    {
     "class": "PreciseTimestampConversion",
     "num-children": 1,
     "child": 0,
     "fromType": "timestamp",
     "toType": "long"
    },
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "id",
     "dataType": "timestamp",
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
UnsupportedError: in this data frame, the expression PreciseTimestampConversion has no rule
Compute it before tracking, or write this part as a query for sql().

-- title: try cast
[
 {
  "class": "Project",
  "num-children": 1,
  "projectList": [
   [
    {"class": "Alias", "num-children": 1, "child": 0, "name": "x", "exprId": {"id": 9}},
    {"class": "Cast", "num-children": 1, "child": 0, "dataType": "integer", "evalMode": "TRY"},
    {
     "class": "AttributeReference",
     "num-children": 0,
     "name": "v",
     "dataType": "integer",
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
  TRY_CAST(l.v AS INT) AS x
FROM l
