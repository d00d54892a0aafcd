-- blocks
SELECT model FROM cars ORDER BY price DESC LIMIT 3 OFFSET 1
