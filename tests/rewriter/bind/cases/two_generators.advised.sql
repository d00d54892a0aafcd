SELECT s, e FROM nested LATERAL VIEW explode(array(st)) u AS s LATERAL VIEW explode(arr) v AS e
