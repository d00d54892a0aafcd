SELECT 1 AS one, 'a' AS letter WHERE 1 = 1
