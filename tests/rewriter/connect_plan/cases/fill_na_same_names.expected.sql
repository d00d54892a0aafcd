SELECT
  coalesce(l.id, CAST(0L AS INT)) AS id,
  coalesce(l.k, CAST(0L AS INT)) AS k,
  coalesce(l.v, CAST(0L AS INT)) AS v,
  coalesce(r.rid, CAST(0L AS INT)) AS rid,
  coalesce(r.k, CAST(0L AS INT)) AS k,
  coalesce(r.w, CAST(0L AS INT)) AS w
FROM l
LEFT JOIN r
  ON l.k = r.k
