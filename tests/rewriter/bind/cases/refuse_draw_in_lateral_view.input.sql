SELECT e FROM nested LATERAL VIEW explode(shuffle(arr)) g AS e
