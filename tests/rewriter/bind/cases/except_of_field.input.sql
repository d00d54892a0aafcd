SELECT * EXCEPT (st.a) FROM nested
