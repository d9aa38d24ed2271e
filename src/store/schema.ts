import { DatabaseSync } from '@photostructure/sqlite';
import { StateFileError, type Database } from './database.ts';

/** Marks a SQLite file as a botsync state file (`PRAGMA application_id`): "bsyn". */
export const APPLICATION_ID = 0x6273796e;

/** The version of the schema (`PRAGMA user_version`). Every change raises it; a state file of an older version is set aside. */
export const STATE_VERSION = 12;

export const SCHEMA = `
  -- Where files are kept: one bot at one address under one identity. A record is worth something only for its target.
  CREATE TABLE target (
    id       INTEGER PRIMARY KEY,
    base_url TEXT NOT NULL,
    bot_id   TEXT NOT NULL,
    identity TEXT NOT NULL,             -- canonical JSON of the identity headers
    UNIQUE (base_url, bot_id, identity)
  ) STRICT;

  -- One row a file. In path order within a source, so that a scan merges with it while both are read once.
  CREATE TABLE file (
    target      INTEGER NOT NULL REFERENCES target (id),
    source      TEXT NOT NULL,
    path        TEXT NOT NULL,          -- relative to the source, as the file system spells it
    key         TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('sending', 'synced', 'failed', 'refused', 'removing')),
    fingerprint TEXT NOT NULL,          -- size:mtime:ctime:inode, times in nanoseconds
    trusted     INTEGER NOT NULL,       -- 0: an equal fingerprint does not prove equal content
    settings    TEXT NOT NULL,          -- digest of the settings that were sent
    expires_at  INTEGER,                -- epoch ms, as sent; NULL while removing: not answered yet
    renew_at    INTEGER,                -- epoch ms: when it is to be sent again before it expires; NULL: it is let expire
    absence     TEXT CHECK (absence IN ('removed', 'kept', 'pruned', 'orphan')),  -- why the source has no such file
    absent_since INTEGER,               -- epoch ms: when that was noticed; means nothing without an absence
    size_bytes  INTEGER NOT NULL,
    sha256      BLOB,                   -- of the bytes the platform holds; NULL while unknown
    uploaded    INTEGER NOT NULL,       -- 1: the platform took, or may have taken, an upsert of ours
    failure     TEXT,                   -- why state is failed or refused
    changed_at  INTEGER NOT NULL,       -- epoch ms of the last change of state
    -- What the platform says of the file since it was sent, as far as it can be asked.
    remote_id   TEXT,                   -- the platform's id of the file; NULL: not known
    verdict     TEXT CHECK (verdict IN ('stored', 'searchable', 'unsearchable')),
                                        -- its final status there; NULL: not known
    sent_at     INTEGER,                -- epoch ms when the store had every byte
    ask_at      INTEGER,                -- epoch ms when the platform is asked next, or a lost file is sent again; NULL: never
    asked_at    INTEGER,                -- epoch ms of its last answer
    losses      INTEGER NOT NULL DEFAULT 0,  -- how often the platform lost this content after the store had taken it
    mark_due    INTEGER NOT NULL DEFAULT 0,  -- 1: the mark of this content is still to be set
    marked      INTEGER NOT NULL DEFAULT 0,  -- 1: the mark of this content was set
    changing    TEXT,                   -- digest of the settings that a change in place may have sent
    differs     TEXT CHECK (differs IN ('content', 'facts', 'replaced')),  -- how the platform's file was found to differ
    PRIMARY KEY (target, source, path, key)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX file_key ON file (target, key);
  CREATE INDEX file_renewal ON file (target, source, renew_at) WHERE renew_at IS NOT NULL;
  CREATE INDEX file_failure ON file (source, target) WHERE failure IS NOT NULL;
  CREATE INDEX file_ask ON file (target, ask_at) WHERE ask_at IS NOT NULL;
  -- Files that the platform lost: looked for every two seconds, while a hundred thousand others may wait to be asked about.
  CREATE INDEX file_resend ON file (target, ask_at) WHERE state = 'failed' AND ask_at IS NOT NULL;
  CREATE INDEX file_removed ON file (absent_since) WHERE absence IN ('removed', 'pruned', 'orphan');

  -- The sources as last seen.
  CREATE TABLE source (
    name        TEXT PRIMARY KEY,
    directory   TEXT NOT NULL,          -- absolute
    identity    TEXT NOT NULL,          -- what that directory is recognised by: another may mean that it was replaced
    halt        TEXT                    -- JSON: why nothing is done for it, see Halt in src/domain/guard.ts; NULL: nothing halts it
  ) STRICT, WITHOUT ROWID;

  -- Where the files of sources are on the platform: in a cluster that is so whichever host looks.
  CREATE TABLE place (
    source TEXT PRIMARY KEY,
    place  TEXT NOT NULL                -- JSON: the target and key prefix that its files had last
  ) STRICT, WITHOUT ROWID;

  -- Files that could not be sent at all and so have no row of their own to say so; renewed by every full pass.
  CREATE TABLE problem (
    source TEXT NOT NULL,
    path   TEXT NOT NULL,
    key    TEXT,
    kind   TEXT NOT NULL CHECK (kind IN ('refuse', 'problem', 'pending')),
    reason TEXT NOT NULL,              -- JSON, see Obstacle in src/domain/obstacle.ts
    pass   INTEGER NOT NULL,            -- number of the pass that saw it last
    PRIMARY KEY (source, path)
  ) STRICT, WITHOUT ROWID;

  -- Removals carried out lately: what the guard against mass removal counts.
  CREATE TABLE removal (
    source TEXT NOT NULL,
    at     INTEGER NOT NULL             -- epoch ms
  ) STRICT;

  -- The last full pass.
  CREATE TABLE pass (
    only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
    number      INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,       -- epoch ms
    exit_code   INTEGER NOT NULL,
    summary     TEXT NOT NULL           -- JSON
  ) STRICT;

  -- What people were told, so that neither a restart nor the next pass tells it again.
  CREATE TABLE told (
    subject TEXT PRIMARY KEY,           -- JSON: the kind of trouble and its source, or "summary"
    told_at INTEGER NOT NULL,           -- epoch ms of the last message on it
    size    INTEGER                     -- how many files it was then; NULL: it was over
  ) STRICT, WITHOUT ROWID;

  -- The conversations that were created to tell people.
  CREATE TABLE conversation (
    purpose TEXT PRIMARY KEY,           -- canonical JSON of what it was created from
    id      TEXT NOT NULL,
    proven  INTEGER NOT NULL            -- 1: a message has arrived there
  ) STRICT, WITHOUT ROWID;

  -- Contents that were announced, or are to be.
  CREATE TABLE announcement (
    target   INTEGER NOT NULL REFERENCES target (id),
    sha256   BLOB NOT NULL,
    key      TEXT NOT NULL,
    url      TEXT,                      -- where everybody can read it; NULL: nothing is left to do
    noted_at INTEGER NOT NULL,          -- epoch ms
    PRIMARY KEY (target, sha256)
  ) STRICT, WITHOUT ROWID;

  -- Where other file systems were mounted below the sources: one that is missing is no deletion.
  CREATE TABLE mount (
    source TEXT NOT NULL,
    path   TEXT NOT NULL,               -- relative to the source
    PRIMARY KEY (source, path)
  ) STRICT, WITHOUT ROWID;

  -- What the platform's clock was found to be, for passes that have nothing to ask it.
  CREATE TABLE clock (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    ahead    INTEGER NOT NULL           -- ms by which it was ahead of ours; 0: it was not
  ) STRICT;

  -- Where the file systems of a source do not show every change, its files are read again bit by bit: how far that came.
  CREATE TABLE rereading (
    source   TEXT PRIMARY KEY,
    position INTEGER NOT NULL,          -- 0 to 2^32 - 1, see src/domain/rereading.ts
    at       INTEGER NOT NULL           -- epoch ms
  ) STRICT, WITHOUT ROWID;

  -- What the platform was told under each digest of settings.
  CREATE TABLE told_settings (
    digest TEXT PRIMARY KEY,
    told   TEXT NOT NULL                -- JSON, see toldOf in src/domain/settings.ts
  ) STRICT, WITHOUT ROWID;

  -- Operations that a platform need not serve, and did not when it was asked last.
  CREATE TABLE unserved_operation (
    target   INTEGER NOT NULL REFERENCES target (id),
    name     TEXT NOT NULL,
    reason   TEXT NOT NULL,
    asked_at INTEGER NOT NULL,          -- epoch ms
    by_token INTEGER NOT NULL,          -- 1: only this token may not; another, or another process with it, asks again
    PRIMARY KEY (target, name)
  ) STRICT, WITHOUT ROWID;

  -- Sources of which nothing was on record at a target: what the platform had of them is taken over.
  CREATE TABLE adoption (
    target INTEGER NOT NULL REFERENCES target (id),
    source TEXT NOT NULL,
    done   INTEGER NOT NULL,            -- 1: a pass over the source came to its end
    PRIMARY KEY (target, source)
  ) STRICT, WITHOUT ROWID;

  -- The last comparison of all that the platform has with what was sent.
  CREATE TABLE verification (
    only_row    INTEGER PRIMARY KEY CHECK (only_row = 1),
    finished_at INTEGER NOT NULL,       -- epoch ms
    summary     TEXT NOT NULL           -- JSON
  ) STRICT;

  -- What was done: a row for each minute of the last day and for each hour before that in which there was anything.
  CREATE TABLE history (
    span          INTEGER NOT NULL CHECK (span IN (60000, 3600000)),  -- ms
    start         INTEGER NOT NULL,     -- epoch ms
    sent_files    INTEGER NOT NULL,
    sent_bytes    INTEGER NOT NULL,
    updated       INTEGER NOT NULL,     -- files of which other facts were told, without their content
    adopted       INTEGER NOT NULL,     -- files that the platform had already
    removed       INTEGER NOT NULL,
    failed        INTEGER NOT NULL,     -- attempts
    refused       INTEGER NOT NULL,     -- before they were sent
    requests      INTEGER NOT NULL,     -- that the platform answered
    throttled     INTEGER NOT NULL,     -- of those: answered with 429
    request_limit INTEGER,              -- requests a minute, the lowest of that time; NULL: not known
    PRIMARY KEY (span, start)
  ) STRICT, WITHOUT ROWID;

  -- What happened to single files: the newest rows of the last 30 days.
  CREATE TABLE file_event (
    number  INTEGER PRIMARY KEY,
    source  TEXT NOT NULL,
    path    TEXT NOT NULL,              -- relative to the source
    at      INTEGER NOT NULL,           -- epoch ms
    kind    TEXT NOT NULL,              -- see EventKind in src/domain/report.ts
    outcome TEXT,
    reason  TEXT NOT NULL,
    error   TEXT                        -- why the outcome is 'failed'
  ) STRICT;
  CREATE INDEX file_event_path ON file_event (source, path);

  -- Files that are sent, or removed, once more whatever is on record: a host that ended may have left something under way.
  CREATE TABLE suspect (
    target   INTEGER NOT NULL REFERENCES target (id),
    key      TEXT NOT NULL,
    again_at INTEGER NOT NULL,          -- epoch ms
    PRIMARY KEY (target, key)
  ) STRICT, WITHOUT ROWID;

  -- The service that used this file last; no row: only single passes did.
  CREATE TABLE service (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    alive_at INTEGER NOT NULL           -- epoch ms: when it last said that it was running
  ) STRICT;

  -- The pause of the service that a command began; no row: it is not paused.
  CREATE TABLE pause (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    since    INTEGER NOT NULL,          -- epoch ms
    until    INTEGER                    -- epoch ms; NULL: until a command ends it
  ) STRICT;
`;

const TABLES = 'SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name';

/** The rows of `sqlite_schema` in a new state file, kept because a process opens its state file often. */
let made: ReadonlySet<string> | null = null;

/**
 * Throws `StateFileError` unless a state file has exactly the tables and indexes that it was created with (none in version 0):
 * SQLite reports damage there as errors in our statements.
 */
export function assertSchema(database: Database, version: number): void {
  const expected = version === 0 ? new Set<string>() : (made ??= new Set(createdTables()));
  const there = readTables(database);
  if (expected.size !== there.length || !there.every((row) => expected.has(row)))
    throw new StateFileError('damaged', 'its tables are not those that botsync created');
}

function createdTables(): string[] {
  const fresh = new DatabaseSync(':memory:');
  try {
    fresh.exec(SCHEMA);
    return readTables(fresh);
  } finally {
    fresh.close();
  }
}

function readTables(database: Database): string[] {
  return database
    .prepare(TABLES)
    .all()
    .map((row) => JSON.stringify(row));
}
