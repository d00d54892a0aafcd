SELECT model FROM cars ORDER BY price LIMIT 0
