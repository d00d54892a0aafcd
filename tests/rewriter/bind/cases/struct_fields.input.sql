SELECT st.f, x.st.g.h, X.ST.F AS g, x.st.`g h` FROM nested AS x
