SELECT model FROM cars UNION SELECT city FROM dealers
