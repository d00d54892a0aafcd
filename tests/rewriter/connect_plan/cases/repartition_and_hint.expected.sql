SELECT
  l.id,
  l.k,
  l.v,
  l.st,
  l.a
FROM l
