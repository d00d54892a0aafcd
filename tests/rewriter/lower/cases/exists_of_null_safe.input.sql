SELECT model FROM cars c WHERE EXISTS (SELECT 1 FROM bids b WHERE b.amount <=> c.price) OR price < 10
