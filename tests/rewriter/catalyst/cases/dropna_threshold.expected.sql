SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  array_size(array_remove(array(l.id IS NOT NULL, l.k IS NOT NULL, l.v IS NOT NULL), FALSE)) >= 2
