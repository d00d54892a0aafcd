-- blocks
SELECT model AS name FROM cars UNION ALL SELECT city FROM dealers WHERE rating > 3
