-- Step from schema version 3 to 4: rows by operation of flows, data moved by kind in intervals, the two values of a failed
-- check, and the CPU time of the whole machine. Earlier runs have none of them.

ALTER TABLE repetition ADD COLUMN machine_cpu_ns INTEGER;

ALTER TABLE worker ADD COLUMN error_expected INTEGER;
ALTER TABLE worker ADD COLUMN error_found INTEGER;

CREATE TABLE flow_op (
    id        INTEGER PRIMARY KEY,
    worker_id INTEGER NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    name      TEXT NOT NULL,
    class     TEXT NOT NULL CHECK (class IN ('io', 'async', 'sync', 'other', 'none')),
    op        TEXT,
    ops       INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
    cpu_ns    INTEGER NOT NULL,
    timed     INTEGER NOT NULL,
    sum_ns    INTEGER NOT NULL,
    min_ns    INTEGER NOT NULL,
    mean_ns   REAL,
    p50_ns    INTEGER,
    p90_ns    INTEGER,
    p99_ns    INTEGER,
    p999_ns   INTEGER,
    max_ns    INTEGER NOT NULL,
    hdr       BLOB,
    exact     TEXT,
    CHECK (hdr IS NOT NULL OR exact IS NOT NULL)
) STRICT;
CREATE INDEX flow_op_worker ON flow_op (worker_id);

-- All workers of a repetition together, by name: relates to flow_op as op_total does to op_stat.
CREATE TABLE flow_op_total (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    name          TEXT NOT NULL,
    class         TEXT NOT NULL,
    op            TEXT,
    ops           INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    bytes_per_s   REAL,
    ops_per_s     REAL,
    cpu_ns        INTEGER NOT NULL,
    mean_ns       REAL,
    min_ns        INTEGER,
    p50_ns        INTEGER,
    p90_ns        INTEGER,
    p95_ns        INTEGER,
    p99_ns        INTEGER,
    p999_ns       INTEGER,
    max_ns        INTEGER,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE interval_moved (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    n             INTEGER NOT NULL,
    op            TEXT NOT NULL,
    bytes         INTEGER NOT NULL,
    PRIMARY KEY (repetition_id, position, n)
) STRICT, WITHOUT ROWID;

CREATE VIEW flow_result AS
SELECT run.id                        AS run_id,
       run.label                     AS label,
       run.started_at                AS started_at,
       phase.seq                     AS phase_seq,
       phase.name                    AS phase,
       repetition.n                  AS repetition,
       total.position                AS position,
       total.name                    AS name,
       total.class                   AS class,
       total.op                      AS op,
       total.ops                     AS ops,
       total.bytes                   AS bytes,
       total.ops_per_s               AS ops_per_s,
       total.bytes_per_s / 1048576.0 AS mib_per_s,
       total.mean_ns                 AS mean_ns,
       total.p50_ns                  AS p50_ns,
       total.p95_ns                  AS p95_ns,
       total.p99_ns                  AS p99_ns,
       total.p999_ns                 AS p999_ns,
       total.max_ns                  AS max_ns
FROM run
JOIN phase ON phase.run_id = run.id
JOIN repetition ON repetition.phase_id = phase.id
JOIN flow_op_total AS total ON total.repetition_id = repetition.id;
