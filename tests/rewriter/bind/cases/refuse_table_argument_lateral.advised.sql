SELECT * FROM words(TABLE(cars) PARTITION BY dealer) w(a, b)
