SELECT * FROM words(TABLE(cars) PARTITION BY dealer, TABLE(dealers) PARTITION BY dealer)
