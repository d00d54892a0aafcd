-- blocks
SELECT dealer, city, model FROM dealers FULL JOIN cars USING (dealer)
