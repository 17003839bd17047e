"""The tables of a history, an SQLite file. `docs/history.md` tells of them for people who query it."""

from __future__ import annotations

#: Version of the schema that this dispatchgen writes and reads: SQLite's `user_version`.
HISTORY_VERSION = 1
#: SQLite's `application_id` of histories: "dgen".
APPLICATION_ID = 0x6467656E

#: Times are in seconds. `sizes` and `symbols` are JSON; `started` and `finished` ISO 8601 in UTC, which sort as texts.
SCHEMA = """
CREATE TABLE machines (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,        -- readable, as files of baselines are named
  description TEXT NOT NULL  -- JSON, as in result files
);
CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,   -- of the run, as in its result file
  session TEXT NOT NULL,     -- of what was measured at once
  started TEXT NOT NULL,
  finished TEXT,             -- null: it was interrupted
  machine INTEGER NOT NULL REFERENCES machines,
  compiler TEXT NOT NULL,
  runtime TEXT,
  dispatchgen TEXT NOT NULL,
  commit_id TEXT,            -- of the repository that the manifest is in
  dirty INTEGER,             -- 1: with files that were edited and not committed
  measured INTEGER NOT NULL, -- benchmarks that have a time
  sha256 TEXT NOT NULL       -- of the result file
);
CREATE TABLE benchmarks (
  number INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  backend TEXT NOT NULL,
  device TEXT NOT NULL,
  call TEXT NOT NULL,
  symbols TEXT NOT NULL,     -- the sizes of the call: a call of other sizes has other benchmarks
  kind TEXT NOT NULL,        -- dispatch, initializer or model
  name TEXT NOT NULL,        -- empty: the whole model
  variant TEXT NOT NULL,     -- id of a substitution or combination; empty: the compiler's own
  caches TEXT NOT NULL,      -- warm or cold
  UNIQUE (model, backend, device, call, symbols, kind, name, variant, caches)
);
CREATE TABLE kernels (
  number INTEGER PRIMARY KEY,
  content TEXT NOT NULL,     -- SHA-256 of the executable with its symbols made stable
  sizes TEXT NOT NULL,       -- workload, push constants, lengths of bindings
  UNIQUE (content, sizes)
);
CREATE TABLE modules (
  number INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE -- of the .vmfb
);
CREATE TABLE measurements (
  benchmark INTEGER NOT NULL REFERENCES benchmarks,
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  kernel INTEGER REFERENCES kernels, -- null: the whole model
  module INTEGER REFERENCES modules, -- null: not known
  seconds REAL,              -- null: not measured, failure says why
  low REAL,                  -- of the 95 % confidence interval
  high REAL,
  noise REAL,                -- of one round: standard deviation of the logarithm
  rounds INTEGER NOT NULL,
  count INTEGER,             -- runs per call of the model; null: not told
  failure TEXT,
  PRIMARY KEY (benchmark, run)
) WITHOUT ROWID;
CREATE INDEX measurements_of_run ON measurements (run);
"""
