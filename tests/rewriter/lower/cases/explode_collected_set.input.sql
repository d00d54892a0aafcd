SELECT explode(dealers) AS dealer FROM (SELECT collect_set(dealer) AS dealers FROM cars GROUP BY model)
