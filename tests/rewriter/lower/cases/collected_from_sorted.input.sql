-- blocks
SELECT model, collect_list(price) AS prices, collect_set(price)[0] AS least FROM (SELECT model, price FROM cars ORDER BY dealer DESC) GROUP BY model
