SELECT explode(st), explode(arr) FROM nested
