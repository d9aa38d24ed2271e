/** The operations that bring a file to the platform. */
export type FileOperation = 'upsert' | 'upload';

/** The other operations, each with a command of its own. */
export const CALLS = ['list-bots', 'get-integration', 'create-conversation', 'create-message'] as const;

/** An operation with a command of its own. */
export type Call = (typeof CALLS)[number];

/** The operations that tell people what happened. */
export type Told = Exclude<Call, 'list-bots'>;

/** How botsync runs. */
export type Mode = 'once' | 'daemon';

/**
 * What may be struck, and in which run: files by `sync --once` and the daemon; the other operations by their commands,
 * and by what both runs tell people.
 */
export type Column = `${FileOperation | Call} ${Mode}` | `${Call} command`;

/** All columns, in order. */
export const COLUMNS = [
  ...(['upsert', 'upload'] as const).flatMap(inBothModes),
  ...CALLS.flatMap((call) => [`${call} command` as const, ...inBothModes(call)]),
] as const satisfies readonly Column[];

function inBothModes<O extends FileOperation | Call>(operation: O): readonly [`${O} once`, `${O} daemon`] {
  return [`${operation} once`, `${operation} daemon`];
}
