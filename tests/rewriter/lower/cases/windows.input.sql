-- blocks
SELECT car_id, rank() OVER (PARTITION BY model ORDER BY price DESC) AS r,
  row_number() OVER (ORDER BY price * 2) AS n, price - avg(price) OVER (PARTITION BY model) AS d
FROM cars
WHERE price > 10
ORDER BY d, car_id
LIMIT 3
