SELECT explode(arr) FROM nested
