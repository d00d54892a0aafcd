SELECT
  l.id,
  l_2.id AS other
FROM l
JOIN l AS l_2
  ON l.k = l_2.k
