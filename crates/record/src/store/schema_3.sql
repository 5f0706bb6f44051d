-- Step from schema version 2 to 3: warm-up, steady state, jitter, cache intent, extents, latencies by interval, and trust.
-- Earlier rows have the defaults; docs/formats/store.md says what they mean.

ALTER TABLE repetition ADD COLUMN ramp_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE repetition ADD COLUMN cache TEXT NOT NULL DEFAULT 'as-found' CHECK (cache IN ('as-found', 'cold', 'warm'));
ALTER TABLE repetition ADD COLUMN extents_bytes INTEGER;
ALTER TABLE repetition ADD COLUMN hole_bytes INTEGER;
ALTER TABLE repetition ADD COLUMN unwritten_bytes INTEGER;
ALTER TABLE repetition ADD COLUMN filled_bytes INTEGER;
ALTER TABLE repetition ADD COLUMN jitter_watched_ns INTEGER;

ALTER TABLE worker ADD COLUMN drained_ops INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN ramp_ops INTEGER NOT NULL DEFAULT 0;
ALTER TABLE worker ADD COLUMN settled_depth INTEGER;
ALTER TABLE worker ADD COLUMN behind_ns INTEGER NOT NULL DEFAULT 0;

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
