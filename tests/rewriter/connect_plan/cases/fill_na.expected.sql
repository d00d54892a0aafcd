SELECT
  coalesce(l.id, CAST(0L AS INT)) AS id,
  coalesce(l.k, CAST(0L AS INT)) AS k,
  l.v,
  coalesce(l.st, CAST(0L AS INT)) AS st,
  coalesce(l.a, CAST(0L AS INT)) AS a
FROM l
