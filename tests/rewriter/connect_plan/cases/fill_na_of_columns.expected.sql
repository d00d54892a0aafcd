SELECT
  l.id,
  coalesce(l.k, CAST(0L AS INT)) AS k,
  coalesce(l.v, CAST('?' AS STRING)) AS v
FROM l
