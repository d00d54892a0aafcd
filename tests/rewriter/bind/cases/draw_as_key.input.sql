SELECT rand() < 0.5 AS half, count(*) AS n FROM t GROUP BY half
