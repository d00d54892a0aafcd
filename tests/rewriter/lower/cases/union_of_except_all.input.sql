SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers UNION ALL SELECT city FROM dealers
