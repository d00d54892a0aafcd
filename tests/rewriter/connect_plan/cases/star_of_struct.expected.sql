SELECT
  (
    struct(l.id, l.k)
  ).`id` AS id,
  (
    struct(l.id, l.k)
  ).`k` AS k,
  struct(l.id, l.k) AS p,
  l.v
FROM l
