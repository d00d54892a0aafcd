SELECT model FROM cars WHERE price > (SELECT rating FROM dealers WHERE dealer = 'd1')
