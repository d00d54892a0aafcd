SELECT model FROM cars WHERE dealer IN (SELECT dealer FROM dealers WHERE rating > 3)
