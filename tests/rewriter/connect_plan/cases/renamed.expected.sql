SELECT
  l.id AS i,
  l.k,
  l.v,
  l.st,
  l.a
FROM l
