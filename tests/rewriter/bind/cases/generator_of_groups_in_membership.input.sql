SELECT a FROM t WHERE a IN (SELECT explode(collect_list(b)) FROM t AS u GROUP BY u.a)
