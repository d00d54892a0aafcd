SELECT
  r.rid,
  r.k,
  CASE
    WHEN r.w = 10.0D
    THEN CAST(11.0D AS INT)
    WHEN r.w = 20.0D
    THEN CAST(21.0D AS INT)
    ELSE r.w
  END AS w
FROM r
