SELECT
  coalesce(d.id, CAST(7.5D AS INT)) AS id,
  coalesce(nanvl(d.x, CAST(NULL AS DOUBLE)), CAST(7.5D AS DOUBLE)) AS x,
  coalesce(nanvl(d.f, CAST(NULL AS FLOAT)), CAST(7.5D AS FLOAT)) AS f,
  d.b,
  d.s
FROM d
