SELECT st.*, nested.st.* EXCEPT (f) FROM nested
