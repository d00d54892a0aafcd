SELECT
  l.id,
  l.k,
  l.v,
  v.col1 AS x,
  v.col2 AS y
FROM l
JOIN VALUES
  (1, 'a'),
  (CAST(NULL AS INT), 'b') AS v(col1, col2)
  ON l.k = v.col1
