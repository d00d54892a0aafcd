SELECT inline(arr) FROM nested
