SELECT
  l.id,
  g.c0,
  g.c1
FROM l
LATERAL VIEW
json_tuple(l.v, 'a', 'b') g AS c0, c1
