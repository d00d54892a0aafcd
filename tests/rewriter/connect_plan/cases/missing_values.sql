-- title: drop na all
{
 "common": {"plan_id": "708"},
 "drop_na": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "cols": ["k", "v"],
  "min_non_nulls": 1
 }
}
-- expected
SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  (
    l.k IS NOT NULL
  ) OR (
    l.v IS NOT NULL
  )

-- title: drop na numbers
{
 "common": {"plan_id": "710"},
 "drop_na": {
  "input": {
   "common": {"plan_id": "2"},
   "tracked": {"name": "d", "columns": ["id", "x", "f", "b", "s"]}
  },
  "cols": ["x", "f"]
 }
}
-- expected
SELECT
  d.id,
  d.x,
  d.f,
  d.b,
  d.s
FROM d
WHERE
  (
    (
      d.x IS NOT NULL
    ) AND (
      NOT isnan(d.x)
    )
  )
  AND (
    (
      d.f IS NOT NULL
    ) AND (
      NOT isnan(d.f)
    )
  )

-- title: drop na same names
{
 "common": {"plan_id": "715"},
 "drop_na": {
  "input": {
   "common": {"plan_id": "714"},
   "join": {
    "left": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
    "right": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
    "join_condition": {
     "unresolved_function": {
      "function_name": "==",
      "arguments": [
       {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "0"}},
       {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "1"}}
      ]
     }
    },
    "join_type": "JOIN_TYPE_LEFT_OUTER"
   }
  }
 }
}
-- error
UnsupportedError: in this data frame, dropna() is of columns of one name
Give them names of their own before.

-- title: drop na threshold
{
 "common": {"plan_id": "709"},
 "drop_na": {
  "input": {
   "common": {"plan_id": "2"},
   "tracked": {"name": "d", "columns": ["id", "x", "f", "b", "s"]}
  },
  "min_non_nulls": 4
 }
}
-- expected
SELECT
  d.id,
  d.x,
  d.f,
  d.b,
  d.s
FROM d
WHERE
  array_size(
    array_remove(
      array(
        d.id IS NOT NULL,
        (
          d.x IS NOT NULL
        ) AND (
          NOT isnan(d.x)
        ),
        (
          d.f IS NOT NULL
        ) AND (
          NOT isnan(d.f)
        ),
        d.b IS NOT NULL,
        d.s IS NOT NULL
      ),
      FALSE
    )
  ) >= 4

-- title: fill na
{
 "common": {"plan_id": "24"},
 "fill_na": {
  "input": {
   "common": {"plan_id": "0"},
   "tracked": {"name": "l", "columns": ["id", "k", "v", "st", "a"]}
  },
  "values": [{"long": "0"}]
 }
}
-- expected
SELECT
  coalesce(l.id, CAST(0L AS INT)) AS id,
  coalesce(l.k, CAST(0L AS INT)) AS k,
  l.v,
  coalesce(l.st, CAST(0L AS INT)) AS st,
  coalesce(l.a, CAST(0L AS INT)) AS a
FROM l

-- title: fill na of columns
{
 "common": {"plan_id": "694"},
 "fill_na": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "cols": ["v", "k"],
  "values": [{"string": "?"}, {"long": "0"}]
 }
}
-- expected
SELECT
  l.id,
  coalesce(l.k, CAST(0L AS INT)) AS k,
  coalesce(l.v, CAST('?' AS STRING)) AS v
FROM l

-- title: fill na of kind
{
 "common": {"plan_id": "696"},
 "fill_na": {
  "input": {
   "common": {"plan_id": "2"},
   "tracked": {"name": "d", "columns": ["id", "x", "f", "b", "s"]}
  },
  "values": [{"double": 7.5}]
 }
}
-- expected
SELECT
  coalesce(d.id, CAST(7.5D AS INT)) AS id,
  coalesce(nanvl(d.x, CAST(NULL AS DOUBLE)), CAST(7.5D AS DOUBLE)) AS x,
  coalesce(nanvl(d.f, CAST(NULL AS FLOAT)), CAST(7.5D AS FLOAT)) AS f,
  d.b,
  d.s
FROM d

-- title: fill na same names
{
 "common": {"plan_id": "706"},
 "fill_na": {
  "input": {
   "common": {"plan_id": "705"},
   "join": {
    "left": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
    "right": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
    "join_condition": {
     "unresolved_function": {
      "function_name": "==",
      "arguments": [
       {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "0"}},
       {"unresolved_attribute": {"unparsed_identifier": "k", "plan_id": "1"}}
      ]
     }
    },
    "join_type": "JOIN_TYPE_LEFT_OUTER"
   }
  },
  "values": [{"long": "0"}]
 }
}
-- expected
SELECT
  coalesce(l.id, CAST(0L AS INT)) AS id,
  coalesce(l.k, CAST(0L AS INT)) AS k,
  coalesce(l.v, CAST(0L AS INT)) AS v,
  coalesce(r.rid, CAST(0L AS INT)) AS rid,
  coalesce(r.k, CAST(0L AS INT)) AS k,
  coalesce(r.w, CAST(0L AS INT)) AS w
FROM l
LEFT JOIN r
  ON l.k = r.k

-- title: replace
{
 "common": {"plan_id": "719"},
 "replace": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "replacements": [
   {"old_value": {"string": "a"}, "new_value": {"string": "z"}},
   {"old_value": {"string": "b"}, "new_value": {"null": {"null": {}}}}
  ]
 }
}
-- expected
SELECT
  l.id,
  l.k,
  CASE
    WHEN l.v = 'a'
    THEN CAST('z' AS STRING)
    WHEN l.v = 'b'
    THEN CAST(NULL AS STRING)
    ELSE l.v
  END AS v
FROM l

-- title: replace nan
{
 "common": {"plan_id": "723"},
 "replace": {
  "input": {
   "common": {"plan_id": "2"},
   "tracked": {"name": "d", "columns": ["id", "x", "f", "b", "s"]}
  },
  "replacements": [{"old_value": {"double": "NaN"}, "new_value": {"double": 0.0}}]
 }
}
-- expected
SELECT
  CASE WHEN d.id = CAST('NaN' AS DOUBLE) THEN CAST(0.0D AS INT) ELSE d.id END AS id,
  CASE WHEN d.x = CAST('NaN' AS DOUBLE) THEN CAST(0.0D AS DOUBLE) ELSE d.x END AS x,
  CASE WHEN d.f = CAST('NaN' AS DOUBLE) THEN CAST(0.0D AS FLOAT) ELSE d.f END AS f,
  d.b,
  d.s
FROM d

-- title: replace numbers
{
 "common": {"plan_id": "720"},
 "replace": {
  "input": {"common": {"plan_id": "1"}, "tracked": {"name": "r", "columns": ["rid", "k", "w"]}},
  "cols": ["w"],
  "replacements": [
   {"old_value": {"double": 10.0}, "new_value": {"double": 11.0}},
   {"old_value": {"double": 20.0}, "new_value": {"double": 21.0}}
  ]
 }
}
-- expected
SELECT
  r.rid,
  r.k,
  CASE
    WHEN r.w = 10.0D
    THEN CAST(11.0D AS INT)
    WHEN r.w = 20.0D
    THEN CAST(21.0D AS INT)
    ELSE r.w
  END AS w
FROM r

-- title: sample with replacement
{
 "common": {"plan_id": "729"},
 "sample": {
  "input": {"common": {"plan_id": "0"}, "tracked": {"name": "l", "columns": ["id", "k", "v"]}},
  "upper_bound": 0.5,
  "with_replacement": true,
  "seed": "1"
 }
}
-- error
UnsupportedError: in this data frame, a sample with replacement has no rule
Take a sample(False, ...), or track it.
