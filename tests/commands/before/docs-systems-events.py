"""A document of PROV, and events of OpenLineage."""

import json
from pathlib import Path

Path("documents").mkdir()
used = {"_:1": {"prov:activity": "e:run", "prov:entity": "e:in"}}
generated = {"_:1": {"prov:activity": "e:run", "prov:entity": "e:out"}}
document = {"prefix": {"e": "http://e/"}, "used": used, "wasGeneratedBy": generated}
Path("documents/1.json").write_text(json.dumps(document))
Path("lineage").mkdir()
times = {"START": "2026-01-01T00:00:00Z", "COMPLETE": "2026-01-01T00:01:00Z"}
lines = [
    {
        "eventType": kind,
        "eventTime": time,
        "run": {"runId": "00000000-0000-0000-0000-000000000001"},
        "job": {"namespace": "jobs", "name": "sum"},
        "inputs": [{"namespace": "data", "name": "in"}],
        "outputs": [{"namespace": "data", "name": "out"}],
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    }
    for kind, time in times.items()
]
Path("lineage/1.jsonl").write_text("\n".join(map(json.dumps, lines)))
