-- title: star in text
{
 "common": {"plan_id": "1286"},
 "project": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "expressions": [
   {"expression_string": {"expression": "*"}},
   {"expression_string": {"expression": "k+1 as z"}}
  ]
 }
}
-- expected
SELECT
  l.id AS `name 0`,
  l.k AS `name 1`,
  l.v AS `name 2`,
  l.k + 1 AS `name 3`
FROM l

-- title: subquery in text
{
 "common": {"plan_id": "1"},
 "project": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "expressions": [{"expression_string": {"expression": "(SELECT 1)"}}]
 }
}
-- error
UnsupportedError: in this data frame, an expression in text has a subquery
Compute it before tracking, or write this part as a query for sql().

-- title: text
{
 "common": {"plan_id": "2"},
 "filter": {
  "input": {
   "common": {"plan_id": "1"},
   "sql": {"query": "SELECT k, count(*) AS n FROM l GROUP BY k"}
  },
  "condition": {
   "unresolved_function": {
    "function_name": ">",
    "arguments": [
     {"unresolved_attribute": {"unparsed_identifier": "n"}},
     {"literal": {"integer": 1}}
    ]
   }
  }
 }
}
-- expected
WITH q1 AS (
  SELECT
    k,
    COUNT(*) AS n
  FROM l
  GROUP BY
    k
)
SELECT
  q1.k,
  q1.n
FROM q1
WHERE
  q1.n > 1

-- title: text alone
{"common": {"plan_id": "1"}, "sql": {"query": "SELECT  k, count(*)  FROM l GROUP BY k"}}
-- expected
SELECT  k, count(*)  FROM l GROUP BY k

-- title: text of equal names
{
 "common": {"plan_id": "2"},
 "filter": {
  "input": {"common": {"plan_id": "1"}, "sql": {"query": "SELECT k, id AS K FROM l"}},
  "condition": {
   "unresolved_function": {
    "function_name": ">",
    "arguments": [
     {"unresolved_attribute": {"unparsed_identifier": "n"}},
     {"literal": {"integer": 1}}
    ]
   }
  }
 }
}
-- error
UnsupportedError: in this data frame, a text has several columns of one name
Give them names of their own.

-- title: text over frame
{
 "common": {"plan_id": "5"},
 "with_relations": {
  "root": {
   "common": {"plan_id": "4"},
   "sql": {"query": "SELECT k, count(*) AS n FROM few GROUP BY k"}
  },
  "references": [
   {
    "common": {"plan_id": "3"},
    "subquery_alias": {
     "input": {
      "common": {"plan_id": "880"},
      "project": {
       "input": {
        "common": {"plan_id": "1"},
        "tracked": {"name": "r", "columns": ["rid", "k", "w"]}
       },
       "expressions": [{"unresolved_attribute": {"unparsed_identifier": "k"}}]
      }
     },
     "alias": "few"
    }
   }
  ]
 }
}
-- expected
WITH few AS (
  SELECT
    r.k
  FROM r
)
SELECT
  k,
  COUNT(*) AS n
FROM few
GROUP BY
  k

-- title: text with named values
{
 "common": {"plan_id": "748"},
 "sql": {
  "query": "select id, :a a,:b b,:c c,:d d,:e e from l",
  "named_arguments": {
   "e": {"literal": {"boolean": true}},
   "a": {"literal": {"double": 1.5}},
   "d": {"literal": {"date": 18263}},
   "c": {"literal": {"decimal": {"value": "1.50", "precision": 10, "scale": 0}}},
   "b": {"literal": {"null": {"null": {}}}}
  }
 }
}
-- expected
SELECT
  id,
  1.5D AS a,
  NULL AS b,
  1.50BD AS c,
  DATE '2020-01-02' AS d,
  TRUE AS e
FROM l

-- title: text with parameters
{
 "common": {"plan_id": "2"},
 "filter": {
  "input": {
   "common": {"plan_id": "1"},
   "sql": {
    "query": "SELECT k AS n FROM l WHERE k > :a",
    "named_arguments": {"a": {"literal": {"integer": 1}}}
   }
  },
  "condition": {
   "unresolved_function": {
    "function_name": ">",
    "arguments": [
     {"unresolved_attribute": {"unparsed_identifier": "n"}},
     {"literal": {"integer": 1}}
    ]
   }
  }
 }
}
-- expected
WITH q1 AS (
  SELECT
    k AS n
  FROM l
  WHERE
    k > 1
)
SELECT
  q1.k,
  q1.n
FROM q1
WHERE
  q1.n > 1

-- title: text with placed values
{
 "common": {"plan_id": "746"},
 "filter": {
  "input": {
   "common": {"plan_id": "745"},
   "sql": {
    "query": "select id, v from l where k = ? and id < ?",
    "pos_arguments": [{"literal": {"integer": 1}}, {"literal": {"integer": 3}}]
   }
  },
  "condition": {"expression_string": {"expression": "id>0"}}
 }
}
-- expected
WITH q1 AS (
  SELECT
    id,
    v
  FROM l
  WHERE
    k = 1 AND id < 3
)
SELECT
  q1.id,
  q1.v
FROM q1
WHERE
  q1.id > 0
