SELECT
  l.id,
  l_2.col AS e
FROM l, LATERAL explode(array(l.id, l.k)) AS l_2(col)
