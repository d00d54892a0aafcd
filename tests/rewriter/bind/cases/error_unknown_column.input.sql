SELECT a,
  missing
FROM t
