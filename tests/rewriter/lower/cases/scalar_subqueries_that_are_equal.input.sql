-- blocks
SELECT car_id FROM cars
WHERE price > (SELECT avg(c.price) FROM cars c WHERE c.model = 'a' GROUP BY c.model)
   OR price < (SELECT avg(d.price) FROM cars d WHERE d.model = 'a' GROUP BY d.model) - 1
   OR price = (SELECT avg(e.price) FROM cars e WHERE e.model = 'b' GROUP BY e.model)
