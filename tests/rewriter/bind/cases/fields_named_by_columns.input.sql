SELECT arrays_zip(nested.arr, st.f, array(a)) AS z FROM nested WHERE exists(arrays_zip(arr, arr), e -> e.arr IS NULL)
