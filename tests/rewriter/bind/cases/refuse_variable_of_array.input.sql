SELECT a
FROM t
WHERE array_contains(listed, a)
