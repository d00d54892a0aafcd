SELECT
  g.z,
  l.id,
  l.k,
  l.v,
  l.st,
  l.a
FROM l
LATERAL VIEW
explode(array(l.k)) g AS z
