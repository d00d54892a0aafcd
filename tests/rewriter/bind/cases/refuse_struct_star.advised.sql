SELECT st.f, st.`g h` FROM nested
