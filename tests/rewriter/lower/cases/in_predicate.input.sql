SELECT city FROM dealers WHERE (rating > 3) IN (SELECT price > 10 FROM cars)
