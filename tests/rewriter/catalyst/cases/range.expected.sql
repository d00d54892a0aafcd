SELECT
  n.id
FROM range(0, 3, 1, 1) AS n
