SELECT explode(s) FROM (SELECT shuffle(arr) AS s FROM nested)
