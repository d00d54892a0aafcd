SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  EXISTS(
    SELECT
      r.k
    FROM r
    WHERE
      r.k = l.k
    GROUP BY
      r.k
    HAVING
      sum(r.w) > 1L
  )
