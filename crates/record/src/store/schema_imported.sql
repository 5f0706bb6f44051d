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
