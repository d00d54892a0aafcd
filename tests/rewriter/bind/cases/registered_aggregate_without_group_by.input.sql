SELECT middle(price) AS m FROM cars
