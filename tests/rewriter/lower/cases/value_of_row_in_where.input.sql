-- blocks
SELECT c.car_id FROM cars c JOIN bids b USING (car_id) WHERE c.dealer = (SELECT dealer FROM dealers WHERE city = 'Berlin')
