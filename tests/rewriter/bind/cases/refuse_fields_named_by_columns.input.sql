SELECT arrays_zip(arr, arr) FROM nested
