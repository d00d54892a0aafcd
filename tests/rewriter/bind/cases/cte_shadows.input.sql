WITH t AS (SELECT a AS z FROM t),
  d AS (WITH t AS (SELECT z + 1 AS z FROM t) SELECT * FROM t)
SELECT t.z, d.z FROM t, d
