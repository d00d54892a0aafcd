SELECT 7 AS seven, count(*) FROM cars GROUP BY seven, 'x', 1.5
