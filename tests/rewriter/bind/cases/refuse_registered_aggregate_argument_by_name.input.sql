SELECT dealer, middle(v => price) AS m FROM cars GROUP BY dealer
