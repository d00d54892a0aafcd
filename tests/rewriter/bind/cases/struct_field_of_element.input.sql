SELECT arr[0].f, map('k', st)['k'].g FROM nested
