-- blocks
SELECT d.city, count(*) AS n
FROM dealers d LEFT JOIN cars c ON c.dealer = d.dealer LEFT JOIN bids b ON b.car_id = c.car_id + 1
WHERE NOT b.amount IS NULL OR b.buyer LIKE 'a%' AND b.amount * 2 > 3 OR b.amount BETWEEN 1 AND 2
GROUP BY d.city
