SELECT city, rand() AS r FROM rates
