-- blocks
SELECT d.city FROM dealers d JOIN bids b ON b.buyer = d.city WHERE NOT EXISTS (SELECT 1 FROM cars c WHERE c.dealer = d.dealer AND c.price > b.amount)
