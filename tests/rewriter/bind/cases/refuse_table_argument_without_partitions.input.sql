SELECT * FROM words(TABLE(cars))
