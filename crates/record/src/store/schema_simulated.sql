-- Simulated runs: the model behind their figures, as JSON. Measured runs have none.

CREATE TABLE simulation (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    doc    TEXT NOT NULL
) STRICT;
