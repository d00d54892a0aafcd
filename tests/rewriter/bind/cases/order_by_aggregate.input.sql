SELECT dealer, count(*) FROM cars GROUP BY dealer ORDER BY count(*) DESC, max(price)
