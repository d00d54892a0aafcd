SELECT dealer, middle(price) + 1 AS m
FROM cars
GROUP BY dealer
HAVING middle(price) > 2
ORDER BY middle(price, car_id)
