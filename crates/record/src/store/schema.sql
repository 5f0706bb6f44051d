-- The store. Described table by table in docs/formats/store.md; units are in the column names.

CREATE TABLE environment (
    id     INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,
    kernel TEXT,
    doc    TEXT NOT NULL
) STRICT;
CREATE INDEX environment_digest ON environment (digest);

CREATE TABLE workload (
    id     INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,
    model  TEXT NOT NULL
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
    id                     INTEGER PRIMARY KEY,
    phase_id               INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE,
    n                      INTEGER NOT NULL,
    started_ns             INTEGER NOT NULL,
    elapsed_ns             INTEGER NOT NULL,
    start_skew_ns          INTEGER NOT NULL,
    bytes                  INTEGER NOT NULL,
    ops                    INTEGER NOT NULL,
    bytes_per_s            REAL,
    ops_per_s              REAL,
    parent_bytes_per_s     REAL,
    regime                 TEXT NOT NULL,
    device_share           REAL,
    evidence               TEXT NOT NULL,
    physical_method        TEXT NOT NULL,
    physical_note          TEXT,
    own_read_bytes         INTEGER,
    own_write_bytes        INTEGER,
    written_in_clock_bytes INTEGER,
    dirty_after_bytes      INTEGER,
    ramp_ns                INTEGER NOT NULL,
    cache                  TEXT NOT NULL CHECK (cache IN ('as-found', 'cold', 'warm')),
    extents_bytes          INTEGER,
    hole_bytes             INTEGER,
    unwritten_bytes        INTEGER,
    filled_bytes           INTEGER,
    jitter_watched_ns      INTEGER,
    machine_cpu_ns         INTEGER,
    compression            TEXT,
    dirty_before_bytes     INTEGER,
    image_cached_bytes     INTEGER
) STRICT;
CREATE INDEX repetition_phase ON repetition (phase_id);

CREATE TABLE worker (
    id                INTEGER PRIMARY KEY,
    repetition_id     INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    group_name        TEXT NOT NULL,
    number            INTEGER NOT NULL,
    start_ns          INTEGER NOT NULL,
    elapsed_ns        INTEGER NOT NULL,
    bytes             INTEGER NOT NULL,
    ops               INTEGER NOT NULL,
    uncounted_bytes   INTEGER NOT NULL,
    cpu_user_ns       INTEGER NOT NULL,
    cpu_system_ns     INTEGER NOT NULL,
    last_op_ns        INTEGER NOT NULL,
    fsync_ns          INTEGER NOT NULL,
    close_ns          INTEGER NOT NULL,
    ending            TEXT NOT NULL CHECK (ending IN ('completed', 'stopped', 'interrupted', 'failed')),
    error_call        TEXT,
    error_path        TEXT,
    error_offset      INTEGER,
    error_after_ops   INTEGER,
    error_errno       INTEGER,
    error_message     TEXT,
    drained_ops       INTEGER NOT NULL,
    ramp_ops          INTEGER NOT NULL,
    settled_depth     INTEGER,
    behind_ns         INTEGER NOT NULL,
    error_expected    INTEGER,
    error_found       INTEGER,
    passed            TEXT,
    switches          INTEGER,
    major_faults      INTEGER,
    minor_faults      INTEGER,
    processor_wait_ns INTEGER,
    in_flight         TEXT
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
    level         INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    read_ms       INTEGER NOT NULL,
    write_ms      INTEGER NOT NULL,
    queue_ms      INTEGER NOT NULL,
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
    id         INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    code       TEXT NOT NULL,
    phase_seqs TEXT NOT NULL,
    sentence   TEXT NOT NULL
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

CREATE TABLE steady (
    repetition_id INTEGER PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    reached       INTEGER NOT NULL CHECK (reached IN (0, 1)),
    asked         INTEGER NOT NULL CHECK (asked IN (0, 1)),
    figure        TEXT NOT NULL,
    round_ns      INTEGER NOT NULL,
    window_rounds INTEGER NOT NULL,
    mean          REAL,
    range_percent REAL,
    slope_percent REAL
) STRICT;

CREATE TABLE steady_round (
    repetition_id INTEGER NOT NULL REFERENCES steady (repetition_id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    value         REAL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE interval_latency (
    id            INTEGER PRIMARY KEY,
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    op            TEXT NOT NULL,
    timed         INTEGER NOT NULL,
    sum_ns        INTEGER NOT NULL,
    min_ns        INTEGER NOT NULL,
    mean_ns       REAL,
    p50_ns        INTEGER,
    p90_ns        INTEGER,
    p99_ns        INTEGER,
    p999_ns       INTEGER,
    max_ns        INTEGER NOT NULL,
    hdr           BLOB,
    exact         TEXT,
    CHECK (hdr IS NOT NULL OR exact IS NOT NULL)
) STRICT;
CREATE INDEX interval_latency_repetition ON interval_latency (repetition_id, position);

CREATE TABLE jitter (
    id            INTEGER PRIMARY KEY,
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    what          TEXT NOT NULL CHECK (what IN ('gap', 'wake')),
    timed         INTEGER NOT NULL,
    sum_ns        INTEGER NOT NULL,
    min_ns        INTEGER NOT NULL,
    mean_ns       REAL,
    p50_ns        INTEGER,
    p90_ns        INTEGER,
    p99_ns        INTEGER,
    p999_ns       INTEGER,
    max_ns        INTEGER NOT NULL,
    hdr           BLOB,
    exact         TEXT,
    CHECK (hdr IS NOT NULL OR exact IS NOT NULL)
) STRICT;
CREATE INDEX jitter_repetition ON jitter (repetition_id);

CREATE TABLE trust (
    run_id   TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    code     TEXT NOT NULL,
    verdict  TEXT NOT NULL CHECK (verdict IN ('good', 'doubtful', 'unknown')),
    sentence TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;

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

-- Memory or device: which bytes of a repetition came from or reached a device, which the page cache served or held, the course
-- of that over time, and what was done to make files cold.

CREATE TABLE cache_truth (
    repetition_id INTEGER NOT NULL PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    statement     TEXT NOT NULL
) STRICT;

CREATE TABLE cache_read (
    repetition_id INTEGER NOT NULL PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    asked_bytes   INTEGER NOT NULL,
    device_bytes  INTEGER NOT NULL,
    cache_bytes   INTEGER NOT NULL,
    hole_bytes    INTEGER NOT NULL,
    excess_bytes  INTEGER NOT NULL
) STRICT;

CREATE TABLE cache_written (
    repetition_id  INTEGER NOT NULL PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    asked_bytes    INTEGER NOT NULL,
    in_clock_bytes INTEGER NOT NULL,
    later_bytes    INTEGER NOT NULL,
    dirty_bytes    INTEGER,
    lost_bytes     INTEGER NOT NULL,
    excess_bytes   INTEGER NOT NULL
) STRICT;

CREATE TABLE cache_waiting (
    repetition_id   INTEGER NOT NULL PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    before_bytes    INTEGER NOT NULL,
    at_stop_bytes   INTEGER NOT NULL,
    after_bytes     INTEGER NOT NULL,
    below_bytes     INTEGER NOT NULL,
    meanwhile_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE cache_course (
    repetition_id INTEGER NOT NULL PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    own           TEXT NOT NULL,
    cost_ns       INTEGER NOT NULL
) STRICT;

CREATE TABLE cache_sample (
    repetition_id       INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position            INTEGER NOT NULL,
    at_ns               INTEGER NOT NULL,
    dirty_bytes         INTEGER NOT NULL,
    writeback_bytes     INTEGER NOT NULL,
    cached_bytes        INTEGER NOT NULL,
    own_dirty_bytes     INTEGER,
    own_writeback_bytes INTEGER,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE cold (
    repetition_id INTEGER NOT NULL PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    files         INTEGER NOT NULL,
    sentence      TEXT NOT NULL
) STRICT;

CREATE TABLE cold_step (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    how           TEXT NOT NULL,
    cached_pages  INTEGER,
    total_pages   INTEGER NOT NULL,
    failed        TEXT,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

-- Block-layer activity of a repetition, and findings about it.

CREATE TABLE block (
    repetition_id   INTEGER PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    source          TEXT NOT NULL,
    events          INTEGER NOT NULL,
    lost            INTEGER NOT NULL,
    observer_cpu_ns INTEGER NOT NULL,
    watched_ns      INTEGER NOT NULL
) STRICT;

CREATE TABLE block_note (
    repetition_id INTEGER NOT NULL REFERENCES block (repetition_id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    sentence      TEXT NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_device (
    id            INTEGER PRIMARY KEY,
    repetition_id INTEGER NOT NULL REFERENCES block (repetition_id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    name          TEXT NOT NULL,
    major         INTEGER NOT NULL,
    minor         INTEGER NOT NULL,
    level         INTEGER NOT NULL,
    bio_based     INTEGER NOT NULL CHECK (bio_based IN (0, 1)),
    busy_ns       INTEGER NOT NULL,
    unfinished    INTEGER NOT NULL,
    begun_before  INTEGER NOT NULL,
    requeued      INTEGER NOT NULL,
    splits        INTEGER,
    unplugs       INTEGER,
    unplugged     INTEGER
) STRICT;
CREATE INDEX block_device_repetition ON block_device (repetition_id, position);

CREATE TABLE block_request (
    id              INTEGER PRIMARY KEY,
    device_id       INTEGER NOT NULL REFERENCES block_device (id) ON DELETE CASCADE,
    class           TEXT NOT NULL CHECK (class IN ('read', 'write', 'flush', 'discard', 'other')),
    issued          INTEGER NOT NULL,
    issued_bytes    INTEGER NOT NULL,
    completed       INTEGER NOT NULL,
    completed_bytes INTEGER NOT NULL,
    errors          INTEGER NOT NULL,
    ahead           INTEGER NOT NULL,
    sync            INTEGER NOT NULL,
    meta            INTEGER NOT NULL,
    fua             INTEGER NOT NULL,
    bios            INTEGER,
    back_merges     INTEGER,
    front_merges    INTEGER,
    request_merges  INTEGER,
    sequential      INTEGER NOT NULL,
    forward         INTEGER NOT NULL,
    backward        INTEGER NOT NULL,
    seek_bytes      INTEGER NOT NULL,
    seek_exact      TEXT
) STRICT;
CREATE INDEX block_request_device ON block_request (device_id);

CREATE TABLE block_latency (
    id         INTEGER PRIMARY KEY,
    request_id INTEGER NOT NULL REFERENCES block_request (id) ON DELETE CASCADE,
    what       TEXT NOT NULL CHECK (what IN ('d2c', 'q2d')),
    timed      INTEGER NOT NULL,
    sum_ns     INTEGER NOT NULL,
    min_ns     INTEGER NOT NULL,
    mean_ns    REAL,
    p50_ns     INTEGER,
    p90_ns     INTEGER,
    p99_ns     INTEGER,
    p999_ns    INTEGER,
    max_ns     INTEGER NOT NULL,
    hdr        BLOB,
    exact      TEXT,
    CHECK (hdr IS NOT NULL OR exact IS NOT NULL)
) STRICT;
CREATE INDEX block_latency_request ON block_latency (request_id);

CREATE TABLE block_size (
    request_id INTEGER NOT NULL REFERENCES block_request (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    count      INTEGER NOT NULL,
    PRIMARY KEY (request_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_seek (
    request_id INTEGER NOT NULL REFERENCES block_request (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    power      INTEGER NOT NULL,
    count      INTEGER NOT NULL,
    PRIMARY KEY (request_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_depth (
    device_id INTEGER NOT NULL REFERENCES block_device (id) ON DELETE CASCADE,
    place     TEXT NOT NULL CHECK (place IN ('device', 'queue')),
    position  INTEGER NOT NULL,
    depth     INTEGER NOT NULL,
    ns        INTEGER NOT NULL,
    PRIMARY KEY (device_id, place, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_issuer (
    device_id   INTEGER NOT NULL REFERENCES block_device (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('own', 'writeback', 'journal', 'kernel', 'other')),
    name        TEXT NOT NULL,
    reads       INTEGER NOT NULL,
    read_bytes  INTEGER NOT NULL,
    writes      INTEGER NOT NULL,
    write_bytes INTEGER NOT NULL,
    others      INTEGER NOT NULL,
    PRIMARY KEY (device_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE block_interval (
    repetition_id INTEGER NOT NULL REFERENCES block (repetition_id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    device        INTEGER NOT NULL,
    source        TEXT NOT NULL CHECK (source IN ('events', 'counters')),
    end_ns        INTEGER NOT NULL,
    width_ns      INTEGER NOT NULL,
    reads         INTEGER NOT NULL,
    read_bytes    INTEGER NOT NULL,
    read_merges   INTEGER NOT NULL,
    read_ns       INTEGER NOT NULL,
    writes        INTEGER NOT NULL,
    write_bytes   INTEGER NOT NULL,
    write_merges  INTEGER NOT NULL,
    write_ns      INTEGER NOT NULL,
    discards      INTEGER NOT NULL,
    flushes       INTEGER NOT NULL,
    busy_ns       INTEGER NOT NULL,
    depth_ns      INTEGER NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE finding (
    id            INTEGER PRIMARY KEY,
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    rule          TEXT NOT NULL,
    sentence      TEXT NOT NULL,
    advice        TEXT NOT NULL
) STRICT;
CREATE INDEX finding_repetition ON finding (repetition_id);

CREATE TABLE finding_evidence (
    finding_id INTEGER NOT NULL REFERENCES finding (id) ON DELETE CASCADE,
    position   INTEGER NOT NULL,
    name       TEXT NOT NULL,
    value      REAL,
    unit       TEXT NOT NULL,
    source     TEXT NOT NULL,
    PRIMARY KEY (finding_id, position)
) STRICT, WITHOUT ROWID;

CREATE VIEW block_result AS
SELECT run.id                            AS run_id,
       run.label                         AS label,
       run.started_at                    AS started_at,
       phase.seq                         AS phase_seq,
       phase.name                        AS phase,
       repetition.n                      AS repetition,
       block.lost                        AS lost,
       device.name                       AS device,
       device.level                      AS level,
       request.class                     AS class,
       request.issued                    AS issued,
       request.issued_bytes              AS issued_bytes,
       CASE WHEN request.issued > 0 THEN request.issued_bytes * 1.0 / request.issued END AS mean_bytes,
       request.completed * 1e9 / nullif(block.watched_ns, 0) AS iops,
       request.completed_bytes * 1e9 / nullif(block.watched_ns, 0) / 1048576.0 AS mib_per_s,
       request.back_merges + request.front_merges + request.request_merges AS merges,
       request.ahead                     AS ahead,
       request.sequential * 1.0 / nullif(request.sequential + request.forward + request.backward, 0) AS sequential_share,
       device.busy_ns * 1.0 / nullif(block.watched_ns, 0) AS busy_share,
       queued.p50_ns                     AS q2d_p50_ns,
       queued.p99_ns                     AS q2d_p99_ns,
       served.p50_ns                     AS d2c_p50_ns,
       served.p99_ns                     AS d2c_p99_ns,
       served.max_ns                     AS d2c_max_ns
FROM run
JOIN phase ON phase.run_id = run.id
JOIN repetition ON repetition.phase_id = phase.id
JOIN block ON block.repetition_id = repetition.id
JOIN block_device AS device ON device.repetition_id = repetition.id
JOIN block_request AS request ON request.device_id = device.id
LEFT JOIN block_latency AS queued ON queued.request_id = request.id AND queued.what = 'q2d'
LEFT JOIN block_latency AS served ON served.request_id = request.id AND served.what = 'd2c';

-- Imported runs: what other programs printed, figure by figure, and the source text. Measured runs have neither.

CREATE TABLE source (
    run_id         TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    file           TEXT NOT NULL,
    program        TEXT NOT NULL,
    first_line     INTEGER NOT NULL,
    last_line      INTEGER NOT NULL,
    not_understood TEXT NOT NULL
) STRICT;

CREATE TABLE figure (
    repetition_id    INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position         INTEGER NOT NULL,
    name             TEXT NOT NULL,
    value            REAL,
    unit             TEXT NOT NULL,
    printed          TEXT NOT NULL,
    higher_is_better INTEGER CHECK (higher_is_better IN (0, 1)),
    line             INTEGER NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

CREATE VIEW imported_result AS
SELECT run.id AS run_id, label, dialect, file, line, phase.seq AS phase_seq, phase.name AS phase, file_bytes, record_bytes, streams,
    queue_depth, tags, repetition.n AS repetition, figure.name AS figure, value, unit, printed, higher_is_better
FROM figure
JOIN repetition ON repetition.id = figure.repetition_id
JOIN phase ON phase.id = repetition.phase_id
JOIN run ON run.id = phase.run_id
JOIN source ON source.run_id = run.id;

-- Simulated runs: the model behind their figures, as JSON. Measured runs have none.
CREATE TABLE simulation (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    doc    TEXT NOT NULL
) STRICT;

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

-- Where the slowest calls waited, as JSON: one row per kind of call.
CREATE TABLE slow_calls (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    doc           TEXT NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

-- What the kernel's page-cache events showed, as JSON: at most one row per repetition.
CREATE TABLE page_cache_events (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    doc           TEXT NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

-- How long workers waited for locks, and for whom, as JSON: at most one row per repetition.
CREATE TABLE lock_waits (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    doc           TEXT NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;

-- How long workers were stopped or frozen, as JSON: at most one row per repetition.
CREATE TABLE halts (
    repetition_id INTEGER NOT NULL REFERENCES repetition (id) ON DELETE CASCADE,
    position      INTEGER NOT NULL,
    doc           TEXT NOT NULL,
    PRIMARY KEY (repetition_id, position)
) STRICT, WITHOUT ROWID;
