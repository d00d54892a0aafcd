"""Inputs and states as files."""

from pathlib import Path

Path("inputs.yaml").write_text(
    """
- Request: [{UserId: P1, BidId: B1, Model: Civic}]
- Request: requests/second.csv
""".lstrip()
)
Path("requests").mkdir()
Path("requests/second.csv").write_text("UserId,BidId,Model\nP2,B2,Civic\n")
for dealer, cars in (("dealer1", "C1,Accord\nC2,Civic\nC3,Civic\n"), ("dealer2", "D1,Civic\n")):
    Path("state", dealer).mkdir(parents=True)
    Path("state", dealer, "Cars.csv").write_text(f"CarId,Model\n{cars}")
