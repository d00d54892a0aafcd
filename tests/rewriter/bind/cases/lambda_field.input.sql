SELECT filter(arr, x -> x.f > nested.a), aggregate(arr, 0, (acc, x) -> acc + x) FROM nested
