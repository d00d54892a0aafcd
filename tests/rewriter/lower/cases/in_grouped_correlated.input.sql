-- blocks
SELECT city FROM dealers d WHERE d.dealer IN (SELECT c.dealer FROM cars c WHERE c.model = d.city GROUP BY c.dealer HAVING count(*) >= 1)
