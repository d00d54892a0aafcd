SELECT c FROM padded
UNION
SELECT concat(s, '') FROM (SELECT d AS s FROM padded)
