-- blocks
SELECT city FROM dealers WHERE EXISTS (SELECT 1 FROM cars WHERE price > 10)
