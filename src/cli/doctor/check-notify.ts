import type { LoadedConfig } from '../../config/load-config.ts';
import { renderProblem } from '../../config/problem.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { LookupFailure } from '../../domain/failure.ts';
import type { Messenger } from '../../notify/messenger.ts';
import { wordTest } from '../../notify/words.ts';
import { findHolder } from '../../service/process-lock.ts';
import type { GlobalOptions } from '../global-options.ts';
import { holdLock } from '../../library/hold-lock.ts';
import { platformName } from '../../library/load.ts';
import { messengerPorts, openMessenger } from '../../library/open-messenger.ts';
import { openStateFile } from '../../library/open-state-file.ts';
import { readStateFile, withStateFile } from '../../library/read-state-file.ts';
import type { Session } from '../session.ts';
import { describeRun } from '../../library/notifier.ts';
import { broken, doubtful, fine, type Diagnosis } from './finding.ts';
import { SyncError } from '../../library/sync-error.ts';

/** Whether people could be told, without telling anybody anything. */
export async function checkNotify(
  loaded: LoadedConfig,
  options: GlobalOptions,
  session: Session,
): Promise<Diagnosis[]> {
  const { notify, stateFile } = loaded.config;
  if (notify === null) return [];
  return await withoutUsageErrors(session, async () => {
    return await withStateFile(stateFile, async ({ reader }) => {
      const messenger = makeMessenger(loaded, options, session, { ...NOTHING, ...reading(reader.notices) });
      const checked = await messenger.check(session.signal);
      if (checked.kind === 'failed') return [diagnose(checked.failure)];
      const { known } = messenger;
      const where =
        known === null
          ? 'a conversation that is created with the first message'
          : `the conversation ${known}`;
      return [fine('notify', `notifications go to ${where}; test them with doctor --send-test`)];
    });
  });
}

/** Sends a message to try out whether it arrives. A conversation that is created for it is remembered. */
export async function sendTest(
  loaded: LoadedConfig,
  options: GlobalOptions,
  session: Session,
): Promise<Diagnosis[]> {
  const { config } = loaded;
  if (config.notify === null)
    return [
      broken('notify', 'there is no conversation to send a test to', 'add "notify" to the configuration'),
    ];
  const text = wordTest(describeRun(options, config.file, 'approve'));
  return await withoutUsageErrors(session, async () => {
    const { messenger, close } = openForTest(loaded, options, session);
    try {
      if (messenger === null) {
        const message = 'the conversation does not exist yet; the running botsync will create it';
        return [doubtful('notify', message, 'see its log for the reason, or stop it and try again')];
      }
      const sent = await messenger.send({ type: 'text', text }, session.signal);
      if (sent.kind === 'failed') return [diagnose(sent.failure)];
      return [
        fine('notify', `a test message was sent to the conversation ${sent.value}: check that it arrived`),
      ];
    } finally {
      close();
    }
  });
}

type ConversationMemory = Parameters<typeof openMessenger>[4];

/** Beside a botsync that is running nothing is written. */
const NOTHING: Omit<ConversationMemory, 'conversation'> = {
  saveConversation: () => undefined,
  proveConversation: () => undefined,
  forgetConversation: () => undefined,
};

function reading(
  notices: Pick<ConversationMemory, 'conversation'>,
): Pick<ConversationMemory, 'conversation'> {
  return { conversation: (purpose) => notices.conversation(purpose) };
}

/** `null`: a conversation would have to be created, by another process. */
function openForTest(
  loaded: LoadedConfig,
  options: GlobalOptions,
  session: Session,
): { readonly messenger: Messenger | null; readonly close: () => void } {
  const { stateFile } = loaded.config;
  if (findHolder(stateFile) === null) {
    const lock = holdLock(stateFile, 'the state file', 'doctor --send-test');
    try {
      const state = openStateFile(stateFile, lock.wasAbandoned, () => undefined);
      const messenger = makeMessenger(loaded, options, session, state.notices);
      return {
        messenger,
        close: () => {
          state.close();
          lock.release();
        },
      };
    } catch (error) {
      lock.release();
      throw error;
    }
  }
  const { reader, close } = readStateFile(stateFile);
  const messenger = makeMessenger(loaded, options, session, { ...NOTHING, ...reading(reader.notices) });
  return { messenger: messenger.known === null ? null : messenger, close };
}

function makeMessenger(
  loaded: LoadedConfig,
  options: GlobalOptions,
  session: Session,
  memory: ConversationMemory,
): Messenger {
  const { emulator } = options;
  const ports = messengerPorts(session, loaded, emulator);
  if (ports === null) throw new Error('there is no notify');
  const { config } = loaded;
  return openMessenger(ports, config, platformName(options, config), emulator, memory);
}

/** What the config lacks, and what is wrong with a secret or the state file, are findings. */
async function withoutUsageErrors(
  { credentials }: Session,
  look: () => Promise<Diagnosis[]>,
): Promise<Diagnosis[]> {
  const lacking = credentials.lacking('notify');
  if (lacking.length > 0) return lacking.map((problem) => broken('notify', renderProblem(problem), null));
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return [broken('notify', error.message, null)];
  }
}

function diagnose(failure: LookupFailure): Diagnosis {
  const message = `notifications cannot be sent: ${failure.message}`;
  switch (failure.kind) {
    case 'credentials':
      return broken('notify', message, null, EXIT.credentials);
    case 'transient':
      return broken('notify', message, 'check the network, platform.baseUrl and platform.chatUrl');
    case 'not-found':
    case 'quota':
    case 'refused':
      return broken('notify', message, null);
  }
}
