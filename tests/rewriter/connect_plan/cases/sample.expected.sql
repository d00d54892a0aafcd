SELECT
  l.id,
  l.k,
  l.v,
  l.st,
  l.a
FROM l TABLESAMPLE (50 PERCENT) REPEATABLE (3)
