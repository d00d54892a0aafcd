SELECT st.f AS f, nested.a, arr FROM nested
