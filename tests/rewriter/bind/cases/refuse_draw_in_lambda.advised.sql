SELECT transform(arr, e -> x) FROM (SELECT arr, rand() AS x FROM nested)
