SELECT x FROM nested LATERAL VIEW explode(arr) e AS x
