SELECT d.dealer, u.word
FROM (SELECT dealer, max(model) AS model FROM cars GROUP BY dealer) d, LATERAL words(d.model) AS u(word)
