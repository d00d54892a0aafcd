SELECT
  d.id,
  d.x,
  d.f,
  d.b,
  d.s
FROM d
WHERE
  array_size(
    array_remove(
      array(
        d.id IS NOT NULL,
        (
          d.x IS NOT NULL
        ) AND (
          NOT isnan(d.x)
        ),
        (
          d.f IS NOT NULL
        ) AND (
          NOT isnan(d.f)
        ),
        d.b IS NOT NULL,
        d.s IS NOT NULL
      ),
      FALSE
    )
  ) >= 4
