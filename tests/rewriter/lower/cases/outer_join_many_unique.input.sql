-- blocks
SELECT b.bid, c.model, d.city, e.rating
FROM bids b LEFT JOIN cars c ON b.car_id = c.car_id LEFT JOIN dealers d ON d.dealer = c.dealer
  LEFT JOIN dealers e ON e.dealer = b.amount
