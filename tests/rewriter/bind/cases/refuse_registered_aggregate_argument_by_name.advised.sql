SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer
