-- Groups of workers with their own steady-state stop rule, as JSON: one row per group.

CREATE TABLE steady_group (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    doc           TEXT NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

-- Latencies by the I/O priority of single operations, as JSON: one row per worker, direction and priority.

CREATE TABLE priority_stat (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    doc           TEXT NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;
