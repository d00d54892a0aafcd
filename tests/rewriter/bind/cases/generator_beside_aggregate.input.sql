SELECT explode(array(1, 2)), count(*) FROM t
