-- The store, schema version 1; the later steps are in schema.rs. Described table by table in docs/formats/store.md; units are
-- in the column names.

CREATE TABLE environment (
    id      INTEGER PRIMARY KEY,
    digest  TEXT NOT NULL,
    kernel  TEXT,
    doc     TEXT NOT NULL
) STRICT;
CREATE INDEX environment_digest ON environment (digest);

CREATE TABLE workload (
    id      INTEGER PRIMARY KEY,
    digest  TEXT NOT NULL,
    model   TEXT NOT NULL
) STRICT;
CREATE INDEX workload_digest ON workload (digest);

CREATE TABLE run (
    id                  TEXT PRIMARY KEY,
    label               TEXT NOT NULL,
    dialect             TEXT NOT NULL,
    started_at          TEXT NOT NULL,
    ended_at            TEXT,
    status              TEXT NOT NULL CHECK (status IN ('running', 'completed', 'interrupted', 'failed')),
    error               TEXT,
    version             TEXT NOT NULL,
    argv                TEXT NOT NULL,
    directory           TEXT NOT NULL,
    seed                TEXT NOT NULL,
    environment_id      INTEGER NOT NULL REFERENCES environment (id),
    workload_id         INTEGER NOT NULL REFERENCES workload (id),
    clock_source        TEXT NOT NULL,
    clock_hz            REAL,
    clock_cost_ns       REAL,
    clock_resolution_ns REAL,
    clock_drift_ppm     REAL,
    host                TEXT,
    boot_id             TEXT,
    pid_namespace       TEXT,
    pid                 INTEGER,
    pid_started_ticks   INTEGER
) STRICT;
CREATE INDEX run_environment ON run (environment_id);
CREATE INDEX run_workload ON run (workload_id);

CREATE TABLE phase (
    id            INTEGER PRIMARY KEY,
    run_id        TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq           INTEGER NOT NULL,
    name          TEXT NOT NULL,
    file_bytes    INTEGER,
    record_bytes  INTEGER,
    streams       INTEGER,
    queue_depth   INTEGER,
    tags          TEXT NOT NULL,
    reads         INTEGER NOT NULL CHECK (reads IN (0, 1)),
    writes        INTEGER NOT NULL CHECK (writes IN (0, 1)),
    sync_in_clock INTEGER NOT NULL CHECK (sync_in_clock IN (0, 1)),
    direct        INTEGER NOT NULL CHECK (direct IN (0, 1))
) STRICT;
CREATE INDEX phase_run ON phase (run_id, seq);

CREATE TABLE repetition (
    id                 INTEGER PRIMARY KEY,
    phase_id           INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    n                  INTEGER NOT NULL,
    started_ns         INTEGER NOT NULL,
    elapsed_ns         INTEGER NOT NULL,
    start_skew_ns      INTEGER NOT NULL,
    bytes              INTEGER NOT NULL,
    ops                INTEGER NOT NULL,
    bytes_per_s        REAL,
    ops_per_s          REAL,
    parent_bytes_per_s REAL,
    regime             TEXT NOT NULL,
    device_share       REAL,
    evidence           TEXT NOT NULL,
    physical_method    TEXT NOT NULL,
    physical_note      TEXT,
    own_read_bytes     INTEGER,
    own_write_bytes    INTEGER,
    written_in_clock_bytes INTEGER,
    dirty_after_bytes  INTEGER
) STRICT;
CREATE INDEX repetition_phase ON repetition (phase_id);

CREATE TABLE worker (
    id              INTEGER PRIMARY KEY,
    repetition_id   INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    group_name      TEXT NOT NULL,
    number          INTEGER NOT NULL,
    start_ns        INTEGER NOT NULL,
    elapsed_ns      INTEGER NOT NULL,
    bytes           INTEGER NOT NULL,
    ops             INTEGER NOT NULL,
    uncounted_bytes INTEGER NOT NULL,
    cpu_user_ns     INTEGER NOT NULL,
    cpu_system_ns   INTEGER NOT NULL,
    last_op_ns      INTEGER NOT NULL,
    fsync_ns        INTEGER NOT NULL,
    close_ns        INTEGER NOT NULL,
    ending          TEXT NOT NULL CHECK (ending IN ('completed', 'stopped', 'interrupted', 'failed')),
    error_call      TEXT,
    error_path      TEXT,
    error_offset    INTEGER,
    error_after_ops INTEGER,
    error_errno     INTEGER,
    error_message   TEXT
) STRICT;
CREATE INDEX worker_repetition ON worker (repetition_id);

CREATE TABLE op_stat (
    id        INTEGER PRIMARY KEY,
    worker_id INTEGER NOT NULL REFERENCES worker (id) ON DELETE CASCADE,
    op        TEXT NOT NULL,
    ops       INTEGER NOT NULL,
    bytes     INTEGER NOT NULL,
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
CREATE INDEX op_stat_worker ON op_stat (worker_id);

-- All workers of a repetition together: SQL cannot merge percentiles, so they are merged before storing.
CREATE TABLE op_total (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    op            TEXT NOT NULL,
    ops           INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    bytes_per_s   REAL,
    ops_per_s     REAL,
    mean_ns       REAL,
    min_ns        INTEGER,
    p50_ns        INTEGER,
    p90_ns        INTEGER,
    p99_ns        INTEGER,
    p999_ns       INTEGER,
    max_ns        INTEGER,
    PRIMARY KEY (repetition_id, op)
) STRICT, WITHOUT ROWID;

CREATE TABLE interval (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    end_ns        INTEGER NOT NULL,
    width_ns      INTEGER NOT NULL,
    ops           INTEGER NOT NULL,
    bytes         INTEGER NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE device (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    name          TEXT NOT NULL,
    read_ios      INTEGER NOT NULL,
    read_bytes    INTEGER NOT NULL,
    read_merges   INTEGER NOT NULL,
    write_ios     INTEGER NOT NULL,
    write_bytes   INTEGER NOT NULL,
    write_merges  INTEGER NOT NULL,
    flush_ios     INTEGER NOT NULL,
    discard_ios   INTEGER NOT NULL,
    busy_ms       INTEGER NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE residency (
    repetition_id   INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    moment          TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    total_pages     INTEGER NOT NULL,
    cached_pages    INTEGER NOT NULL,
    dirty_pages     INTEGER NOT NULL,
    writeback_pages INTEGER NOT NULL,
    PRIMARY KEY (repetition_id, moment)
) STRICT, WITHOUT ROWID;

CREATE TABLE doubt (
    id        INTEGER PRIMARY KEY,
    run_id    TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    code      TEXT NOT NULL,
    phase_seq INTEGER,
    sentence  TEXT NOT NULL
) STRICT;
CREATE INDEX doubt_run ON doubt (run_id);

CREATE TABLE artifact (
    id         INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    worker_id  INTEGER REFERENCES worker (id) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    body       BLOB NOT NULL
) STRICT;
CREATE INDEX artifact_run ON artifact (run_id);
CREATE INDEX artifact_worker ON artifact (worker_id);

CREATE VIEW result AS
SELECT run.id                                        AS run_id,
       run.label                                     AS label,
       run.started_at                                AS started_at,
       phase.seq                                     AS phase_seq,
       phase.name                                    AS phase,
       phase.file_bytes                              AS file_bytes,
       phase.record_bytes                            AS record_bytes,
       phase.streams                                 AS streams,
       phase.queue_depth                             AS queue_depth,
       phase.tags                                    AS tags,
       repetition.n                                  AS repetition,
       total.op                                      AS op,
       coalesce(total.ops, repetition.ops)           AS ops,
       coalesce(total.bytes, repetition.bytes)       AS bytes,
       CASE WHEN total.op IS NULL THEN repetition.bytes_per_s ELSE total.bytes_per_s END / 1048576.0 AS mib_per_s,
       CASE WHEN total.op IS NULL THEN repetition.ops_per_s ELSE total.ops_per_s END AS iops,
       total.p50_ns                                  AS p50_ns,
       total.p99_ns                                  AS p99_ns,
       total.max_ns                                  AS max_ns,
       repetition.regime                             AS regime,
       repetition.device_share                       AS device_share
FROM run
JOIN phase ON phase.run_id = run.id
JOIN repetition ON repetition.phase_id = phase.id
LEFT JOIN op_total AS total ON total.repetition_id = repetition.id;
