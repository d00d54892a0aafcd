SELECT st.* FROM nested
