-- blocks
SELECT u.word, count(*) AS n
FROM cars c JOIN dealers d ON c.dealer = d.dealer, LATERAL words(c.model, d.city) AS u(word, size)
WHERE u.size > 3
GROUP BY u.word
