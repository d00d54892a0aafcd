SELECT 1 AS one, 'x' AS x
