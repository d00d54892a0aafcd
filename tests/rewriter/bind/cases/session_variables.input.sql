SELECT a, session.named AS n, a * share AS s
FROM t
WHERE b > least AND b > low
