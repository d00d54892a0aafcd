SELECT explode(arr) AS v, a FROM t
