-- blocks
SELECT model, size(collect_list(price)) AS n, array_sort(collect_list(price)) AS prices, collect_list(price) AS shown FROM cars GROUP BY model
