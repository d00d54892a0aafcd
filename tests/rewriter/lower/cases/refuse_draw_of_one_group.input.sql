SELECT count(*) AS n, rand() AS r FROM cars
