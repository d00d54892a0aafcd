SELECT
  l.id,
  l.k,
  l.v
FROM l
WHERE
  l.v LIKE 'a/%%' ESCAPE '/'
