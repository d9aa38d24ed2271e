// Loaded into the built command before its own modules (`node --import`): ends it with SIGKILL at a named point, and
// writes down what it asks of its state file, line by line, so that the test knows what has to be there afterwards.
// Nothing of the product knows of it: what passes to SQLite and to the disk is watched here.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import Module, { syncBuiltinESMExports } from 'node:module';

const {
  CRASH_TRACE: traceFile = '',
  CRASH_POINT: point = '',
  CRASH_COUNT: count = '1',
  CRASH_LOG: logFile = '',
  CRASH_SYNCED_LOG: syncedLogFile = '',
  CRASH_CHECKPOINT_PAGES: checkpointPages = '1000',
  CRASH_COPIES: copies = '',
} = process.env;

const trace = fs.openSync(traceFile, 'a');
let timesLeft = Number(count);

function note(what, key = '') {
  fs.writeSync(trace, `${JSON.stringify({ what, key })}\n`);
}

function reach(name) {
  if (name !== point) return;
  timesLeft -= 1;
  if (timesLeft > 0) return;
  note('reached');
  process.kill(process.pid, 'SIGKILL');
}

/** Copies the state file as a kill at this moment would leave it, where copies are asked for. */
function copyStateFile() {
  if (copies === '') return;
  const stateFile = logFile.replace(/-wal$/u, '');
  const files = [stateFile, logFile, `${stateFile}-shm`].filter((file) => fs.existsSync(file));
  const directory = `${copies}/${fs.readdirSync(copies).length}`;
  fs.mkdirSync(directory);
  // By another process: if this one closed a file that SQLite has open, it would lose its locks.
  execFileSync('cp', ['-p', ...files, directory]);
}

/** What the statements of src/store/state-store.ts and remote.ts do to the row of a key, which is one of their arguments. */
const WRITES = [
  { pattern: /INSERT INTO file .*'sending'/su, what: 'intent', keyAt: 3 },
  { pattern: /UPDATE file SET state = 'removing'/u, what: 'intent', keyAt: -1 },
  { pattern: /UPDATE file SET state = 'synced'/u, what: 'record', keyAt: -1 },
  { pattern: /UPDATE file SET expires_at = .* AND state = 'removing'/su, what: 'record', keyAt: -1 },
  { pattern: /UPDATE file SET state = \?/u, what: 'noted', keyAt: -1 },
  { pattern: /INSERT INTO file .*'synced'/su, what: 'adopted', keyAt: 3 },
  { pattern: /UPDATE file SET changing = \?/u, what: 'changing', keyAt: -1 },
  { pattern: /UPDATE file SET settings = \?/u, what: 'changed', keyAt: -1 },
  { pattern: /UPDATE file SET mark_due = 0/u, what: 'marked', keyAt: -3 },
  { pattern: /DELETE FROM file WHERE target/u, what: 'noted', keyAt: -1 },
];

function watchStatement(statement, sql) {
  const write = WRITES.find(({ pattern }) => pattern.test(sql));
  if (write === undefined) return statement;
  const { what, keyAt } = write;
  const run = (...values) => {
    reach(`before-${what}`);
    const result = Object.getPrototypeOf(statement).run.apply(statement, values);
    note(what, values.at(keyAt));
    reach(`after-${what}`);
    return result;
  };
  Object.defineProperty(statement, 'run', { value: run });
  return statement;
}

function watchDatabase(Database) {
  return class extends Database {
    exec(sql) {
      if (sql.startsWith('PRAGMA journal_mode')) {
        reach('before-opening');
        super.exec(`${sql}; PRAGMA wal_autocheckpoint = ${checkpointPages}`);
      } else if (sql.includes('PRAGMA user_version = ')) {
        // Statements end with their line or before a PRAGMA; comments, which are kept with the tables, go on after theirs.
        for (const statement of sql.split(/;(?=\s*(?:\n|PRAGMA|$))/u)) {
          copyStateFile();
          super.exec(statement);
        }
        copyStateFile();
        reach('creation');
      } else if (sql === 'COMMIT') {
        reach('before-commit');
        super.exec(sql);
        note('commit');
        reach('after-commit');
      } else if (sql.startsWith('PRAGMA wal_checkpoint')) {
        reach('before-checkpoint');
        super.exec(sql);
        reach('after-checkpoint');
      } else {
        super.exec(sql);
      }
    }

    prepare(sql, ...rest) {
      return watchStatement(super.prepare(sql, ...rest), sql);
    }
  };
}

// The methods of SQLite's binding are read-only: its class is replaced as it is loaded.
const loadBinding = Module._extensions['.node'];
Module._extensions['.node'] = function (module, file) {
  loadBinding.call(this, module, file);
  if (module.exports.DatabaseSync === undefined) return;
  module.exports.DatabaseSync = watchDatabase(module.exports.DatabaseSync);
};

// Only the write-ahead log is synced by Node, the database by SQLite itself.
const { fdatasync } = fs;
fs.fdatasync = (fd, callback) => {
  reach('before-sync');
  note('sync-begin');
  // What stands in the log now is on disk when the call is over. SQLite takes no locks on it, so it may be opened here.
  fs.copyFileSync(logFile, `${syncedLogFile}.next`);
  fdatasync(fd, (error) => {
    if (error === null) {
      fs.renameSync(`${syncedLogFile}.next`, syncedLogFile);
      note('sync-end');
    }
    reach('after-sync');
    callback(error);
  });
  reach('during-sync');
};
syncBuiltinESMExports();
