SELECT d.model, rand() AS r FROM (SELECT model FROM cars EXCEPT SELECT city FROM dealers) d
