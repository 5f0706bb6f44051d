-- Block-layer activity of a repetition, and findings about it. Earlier runs have no rows here.

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
    id                INTEGER PRIMARY KEY,
    repetition_id     INTEGER NOT NULL REFERENCES block (repetition_id) ON DELETE CASCADE,
    position          INTEGER NOT NULL,
    name              TEXT NOT NULL,
    major             INTEGER NOT NULL,
    minor             INTEGER NOT NULL,
    level             INTEGER NOT NULL,
    bio_based         INTEGER NOT NULL CHECK (bio_based IN (0, 1)),
    busy_ns           INTEGER NOT NULL,
    unfinished        INTEGER NOT NULL,
    begun_before      INTEGER NOT NULL,
    requeued          INTEGER NOT NULL,
    splits            INTEGER,
    unplugs           INTEGER,
    unplugged         INTEGER
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
