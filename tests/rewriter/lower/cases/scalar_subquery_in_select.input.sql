SELECT model, (SELECT max(amount) FROM bids) - price AS gap FROM cars
