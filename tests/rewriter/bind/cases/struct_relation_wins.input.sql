SELECT st.f FROM nested, (SELECT 5 AS f) AS st
