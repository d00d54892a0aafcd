SELECT st.a.b AS f, arr[0].c AS c, sum(st.x + 1) FROM nested WHERE st.a.b > 1 GROUP BY st.a.b, arr[0].c
