-- blocks
SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers
