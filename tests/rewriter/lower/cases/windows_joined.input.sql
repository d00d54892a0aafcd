-- blocks
SELECT d.city, c.n
FROM dealers d
LEFT JOIN (SELECT car_id, dealer, row_number() OVER (PARTITION BY dealer ORDER BY price) AS n FROM cars) c
  ON c.car_id = d.dealer
WHERE NOT EXISTS (SELECT 1 FROM bids b WHERE b.car_id = c.car_id AND b.amount > c.n)
