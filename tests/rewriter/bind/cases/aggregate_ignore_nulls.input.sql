SELECT first(price) IGNORE NULLS AS f, last(price) FILTER (WHERE price > 1) IGNORE NULLS AS l FROM cars
