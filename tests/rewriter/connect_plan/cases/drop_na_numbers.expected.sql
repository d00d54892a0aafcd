SELECT
  d.id,
  d.x,
  d.f,
  d.b,
  d.s
FROM d
WHERE
  (
    (
      d.x IS NOT NULL
    ) AND (
      NOT isnan(d.x)
    )
  )
  AND (
    (
      d.f IS NOT NULL
    ) AND (
      NOT isnan(d.f)
    )
  )
