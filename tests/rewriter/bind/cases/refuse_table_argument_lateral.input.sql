SELECT * FROM cars, LATERAL words(TABLE(cars) PARTITION BY dealer) w(a)
