SELECT car_id, count(*) OVER (PARTITION BY model) AS n FROM cars
UNION ALL
SELECT bid, amount FROM bids
