SELECT explode(shuffle(arr)) FROM nested
