SELECT * FROM other(TABLE(cars) PARTITION BY dealer)
