SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXCEPT ALL SELECT city FROM dealers) d
