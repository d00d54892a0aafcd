-- blocks
SELECT d.city, count(b.bid) AS n FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer LEFT JOIN bids b ON b.car_id = c.car_id GROUP BY d.city
