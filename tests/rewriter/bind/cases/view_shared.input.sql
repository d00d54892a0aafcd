SELECT x.total FROM totals AS x JOIN totals AS y USING (dealer)
