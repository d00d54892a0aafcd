SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC), percentile_disc(0.5) WITHIN GROUP (ORDER BY a) FROM t
