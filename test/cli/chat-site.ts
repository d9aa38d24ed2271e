import { createSite, run, start, type Ended, type Site } from './binary.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';

/** A site whose config names everything that the platform's operations need. */
export interface ChatSite extends Site {
  /** Runs a command with both secrets set. */
  readonly botsync: (...args: string[]) => Promise<Ended>;
  /** Writes the config again, with other fields of `platform`. */
  readonly configure: (platform: object, others?: object) => void;
}

/** Makes such a site. */
export async function createChatSite(options: Partial<EmulatorOptions> = {}): Promise<ChatSite> {
  const site = await createSite({}, options);
  const { emulator } = site;
  const configure = (platform: object, others: object = {}): void => {
    const whole = {
      ...{ baseUrl: emulator.baseUrl, chatUrl: emulator.chatUrl, workspaceId: emulator.workspaceId },
      ...{ botId: 'bot-1', token: 'env:BOTSYNC_TOKEN' },
      chat: { webhookId: emulator.webhookId, userKey: 'env:BOTSYNC_USER_KEY' },
      ...platform,
    };
    site.write(
      'botsync.config.json',
      JSON.stringify({ platform: whole, sources: [{ directory: './docs' }], ...others }),
    );
  };
  configure({});
  const env = { ...site.env, BOTSYNC_USER_KEY: emulator.userKey };
  return { ...site, env, configure, botsync: (...args) => run(site.directory, args, env) };
}

/** Runs a command with a text on its standard input. */
export function runWithInput(
  { directory, env }: ChatSite,
  args: readonly string[],
  input: string | Buffer,
): Promise<Ended> {
  const running = start(directory, args, env);
  running.child.stdin?.end(input);
  return running.ended;
}
