SELECT model FROM cars EXCEPT SELECT city FROM dealers ORDER BY model LIMIT 2
