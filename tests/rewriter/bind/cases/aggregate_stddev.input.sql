SELECT dealer, stddev(price) FROM cars GROUP BY dealer
