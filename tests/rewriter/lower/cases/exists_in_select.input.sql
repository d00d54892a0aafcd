SELECT model, EXISTS (SELECT 1 FROM bids) AS sold FROM cars
