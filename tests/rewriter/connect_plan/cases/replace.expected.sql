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
