SELECT transform(arr, e -> e + rand()) FROM nested
