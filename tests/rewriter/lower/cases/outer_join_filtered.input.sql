SELECT d.city, c.model FROM (SELECT * FROM dealers WHERE dealer IN (SELECT car_id FROM bids)) d FULL JOIN cars c ON c.dealer = d.dealer
