SELECT
  l.id,
  g.e
FROM l
LATERAL VIEW
explode(array(l.k, l.id)) g AS e
