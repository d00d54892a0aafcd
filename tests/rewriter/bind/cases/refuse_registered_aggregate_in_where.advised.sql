SELECT dealer FROM (SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer) WHERE m > 2
