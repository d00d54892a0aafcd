SELECT model FROM cars ORDER BY price DESC, upper(dealer)
