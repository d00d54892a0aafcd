SELECT transform(arr, a -> a + nested.a) FROM nested
