import { notifiesByChat, type Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem } from '../../config/problem.ts';
import type { LookupFailure } from '../../domain/failure.ts';
import type { Destination, NotificationChannel } from '../../notify/channel.ts';
import type { ConversationMemory } from '../../notify/messenger.ts';
import { wordTest } from '../../notify/words.ts';
import { findHolder } from '../../service/process-lock.ts';
import { holdLock, useStateFile } from '../../run/state-file.ts';
import { openChannel, stateConversations, describeRun } from '../../run/notifier.ts';
import { withStateFile } from '../../run/read-state-file.ts';
import type { NoticeReader } from '../../store/notices.ts';
import type { Session } from '../session.ts';
import { broken, doubtful, fine, orFinding, refusal, type Diagnosis, type Examination } from './finding.ts';

/** Checks whether notifications could be sent, without sending any. */
export async function checkNotify(examination: Examination): Promise<Diagnosis[]> {
  const { loaded, session } = examination;
  const { notify, cluster, stateFile } = loaded.config;
  if (notify === null) return [];
  const check = async (memory: ConversationMemory): Promise<Diagnosis[]> => {
    const found = await channelOf(examination, memory).check(session.signal);
    if (found.kind === 'failed') return [cannotSend(loaded.config, found.failure)];
    const where =
      found.value === null
        ? 'a conversation that is created with the first message'
        : nameDestination(found.value);
    return [fine('notify', `notifications go to ${where}; test them with doctor --send-test`)];
  };
  return await withoutUsageErrors(session, () =>
    cluster === null
      ? withStateFile(stateFile, ({ reader }) => check(readOnly(reader.notices)))
      : withConversations(loaded, check),
  );
}

/** Sends a test message. A conversation that is created for it is remembered. */
export async function sendTest(examination: Examination): Promise<Diagnosis[]> {
  const { loaded, options, session } = examination;
  const { config } = loaded;
  const { cluster, stateFile } = config;
  if (config.notify === null)
    return [broken('notify', 'there is no place to send a test to', 'add "notify" to the configuration')];
  const text = wordTest(describeRun(options, config, 'approve'));
  const send = async (memory: ConversationMemory): Promise<Diagnosis[]> => {
    const test = { text, event: 'test', topic: null, source: null, files: null } as const;
    const sent = await channelOf(examination, memory).send(test, session.signal);
    if (sent.kind === 'failed') return [cannotSend(config, sent.failure)];
    const where = nameDestination(sent.value);
    return [fine('notify', `a test message was sent to ${where}: check that it arrived`)];
  };
  return await withoutUsageErrors(session, async () => {
    if (cluster !== null) return await withConversations(loaded, send);
    if (findHolder(stateFile) === null) return await withOwnState(stateFile, send);
    return await withStateFile(stateFile, async ({ reader }) => {
      const memory = readOnly(reader.notices);
      const found = await channelOf(examination, memory).check(session.signal);
      if (found.kind === 'ok' && found.value !== null) return await send(memory);
      const message = 'the conversation does not exist yet; the running botsync will create it';
      return [doubtful('notify', message, 'see its log for the reason, or stop it and try again')];
    });
  });
}

/** The memory of a state file that a running botsync holds: writes nothing. */
function readOnly(notices: Pick<NoticeReader, 'conversation'>): ConversationMemory {
  return stateConversations({
    conversation: (purpose) => notices.conversation(purpose),
    saveConversation: () => undefined,
    proveConversation: () => undefined,
    forgetConversation: () => undefined,
  });
}

/** Throws `SyncError`. */
async function withOwnState<T>(
  stateFile: string,
  task: (memory: ConversationMemory) => Promise<T>,
): Promise<T> {
  const lock = holdLock(stateFile, 'the state file', 'doctor --send-test');
  try {
    const opening = { checkThoroughly: lock.wasAbandoned, warn: () => undefined };
    const used = await useStateFile(stateFile, opening, (state) => task(stateConversations(state.notices)));
    if (used.kind === 'failed') throw used.error;
    return used.value;
  } finally {
    lock.release();
  }
}

/** Loads modules of the cluster only here. Throws `SyncError`. */
async function withConversations<T>(
  loaded: LoadedConfig,
  task: (memory: ConversationMemory) => Promise<T>,
): Promise<T> {
  const { withCluster } = await import('../../run/cluster/open-cluster.ts');
  return await withCluster(loaded, process.env, ({ conversations }) => task(conversations));
}

function channelOf(
  { loaded: { config }, options, platformName, session }: Examination,
  memory: ConversationMemory,
): NotificationChannel {
  const { host } = describeRun(options, config, 'approve');
  return openChannel(session, { config, host, platformName, useEmulator: options.emulator }, memory);
}

function nameDestination(destination: Destination): string {
  return 'webhook' in destination
    ? `the webhook at ${destination.webhook}`
    : `the conversation ${destination.conversation}`;
}

/** Reports missing settings, and problems with a secret or the state file, as findings. */
async function withoutUsageErrors(
  { credentials }: Session,
  look: () => Promise<Diagnosis[]>,
): Promise<Diagnosis[]> {
  const lacking = credentials.lacking('notify');
  if (lacking.length > 0) return lacking.map((problem) => broken('notify', renderProblem(problem), null));
  return await orFinding('notify', look);
}

function cannotSend(config: Config, failure: LookupFailure): Diagnosis {
  const addresses = notifiesByChat(config)
    ? ', platform.baseUrl and platform.chatUrl'
    : ' and notify.webhook';
  return refusal('notify', 'notifications cannot be sent', failure, {
    transient: `check the network${addresses}`,
  });
}
