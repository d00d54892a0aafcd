SELECT dealer FROM cars WHERE price > 3 GROUP BY dealer HAVING NULL AND count(*) > 1
