-- Memory or device: which bytes of a repetition came from or reached a device, which the page cache served or held, the course
-- of that over time, and what was done to make files cold. Earlier runs have none of them.

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
    repetition_id INTEGER NOT NULL PRIMARY KEY REFERENCES repetition (id) ON DELETE CASCADE,
    before_bytes  INTEGER NOT NULL,
    at_stop_bytes INTEGER NOT NULL,
    after_bytes   INTEGER NOT NULL,
    below_bytes   INTEGER NOT NULL
) STRICT;

ALTER TABLE repetition ADD COLUMN compression TEXT;

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
