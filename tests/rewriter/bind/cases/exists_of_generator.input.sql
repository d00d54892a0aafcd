SELECT a FROM t WHERE EXISTS (SELECT explode(arr) FROM nested)
