SELECT 5 AS five, model FROM cars ORDER BY five, model
