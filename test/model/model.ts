import { IGNORE_SETS, ruleSets, type Expected, type RuleSet } from './rule-sets.ts';
import { nameOf, type Tree } from './tree.ts';

/** Directories that may be sources, and one that is none. */
export const DIRECTORIES = ['docs', 'more'] as const;
export const OUTSIDE = 'outside';

/** Where a source's files go while its file system is not mounted. */
export const awayFrom = (directory: string): string => `${directory}.away`;

/** One source of the configuration. */
export interface ModelSource {
  readonly name: string;
  readonly directory: (typeof DIRECTORIES)[number];
  readonly keyPrefix: string;
  readonly botId: string;
  readonly symlinks: 'skip' | 'inside' | 'follow';
  /** Index into `IGNORE_SETS`. */
  readonly ignore: number;
}

/** The configuration, as far as it varies. */
export interface ModelSettings {
  readonly sources: readonly ModelSource[];
  /** Index into the rule sets. */
  readonly rules: number;
  readonly removals: 'keep' | 'expire' | 'delete';
}

/** A file that a source shows. */
export interface VisibleFile {
  /** Relative to its source. */
  readonly path: string;
  readonly content: string;
}

/** What a walk over a source would find. */
export interface Walked {
  readonly files: readonly VisibleFile[];
  /** Whether everything could be seen: no link leads nowhere. */
  readonly isComplete: boolean;
}

/** What ought to become of one visible file. */
export interface Expectation {
  readonly source: ModelSource;
  readonly file: VisibleFile;
  readonly botId: string;
  readonly key: string;
  readonly expected: Expected;
  /** `contested`: a file that stands before gives the same key, though nothing of it is sent. */
  readonly claim: 'owner' | 'contested' | 'behind';
}

/** The world as it ought to be: what the directories hold, what the configuration says, what follows from both. */
export class Model {
  readonly tree: Tree;
  readonly rules: readonly RuleSet[];
  /** By directory: index into `IGNORE_SETS` of what its own ignore file says. */
  readonly ignoreFiles = new Map<string, number>();
  /** By directory: the key prefixes that it ever had, since old keys go like deleted files. */
  readonly prefixes = new Map<string, Set<string>>();
  inUse: ModelSettings;

  constructor(tree: Tree, settings: ModelSettings, beganMs: number) {
    this.tree = tree;
    this.inUse = settings;
    this.settings = settings;
    this.rules = ruleSets(beganMs);
  }

  get settings(): ModelSettings {
    return this.inUse;
  }

  set settings(settings: ModelSettings) {
    this.inUse = settings;
    for (const { directory, keyPrefix } of settings.sources)
      this.prefixes.set(directory, (this.prefixes.get(directory) ?? new Set()).add(keyPrefix));
  }

  /** The fields of the configuration that vary. */
  configFields(): Record<string, unknown> {
    const { sources, rules, removals } = this.settings;
    return {
      sources: sources.map(({ name, directory, keyPrefix, botId, symlinks, ignore }) => ({
        name,
        directory: `./${directory}`,
        keyPrefix,
        botId,
        symlinks,
        ignore: IGNORE_SETS[ignore]?.lines,
      })),
      rules: this.rules[rules]?.rules,
      removals: { mode: removals, delay: '5s' },
    };
  }

  /** Whether a directory's files are away. */
  isAway(directory: string): boolean {
    return this.tree.nodes.has(awayFrom(directory));
  }

  /** Whether an entry of a source is left out, given that none of its parents is. */
  ignores({ directory, ignore }: ModelSource, path: string, isDirectory: boolean): boolean {
    const name = nameOf(path);
    if (name.endsWith('.tmp') || name === '.botsyncignore') return true;
    const sets = [IGNORE_SETS[ignore], IGNORE_SETS[this.ignoreFiles.get(directory) ?? 0]];
    return sets.some((set) => set?.ignores(path, name, isDirectory));
  }

  /** What a source shows. Nothing while its files are away. */
  walk(source: ModelSource): Walked {
    const { tree } = this;
    const root = source.directory;
    const files: VisibleFile[] = [];
    let isComplete = true;
    const visit = (prefix: string, real: string, above: readonly string[]): void => {
      for (const name of tree.names(real)) {
        const path = prefix + name;
        const at = `${real}/${name}`;
        const isLink = tree.nodes.get(at)?.kind === 'link';
        if (isLink && source.symlinks === 'skip') continue;
        const led = tree.resolve(at);
        if (led === null) {
          if (!this.ignores(source, path, false)) isComplete = false;
          continue;
        }
        const isInside = led === root || led.startsWith(`${root}/`);
        if (isLink && source.symlinks === 'inside' && !isInside) continue;
        const node = tree.nodes.get(led);
        if (this.ignores(source, path, node?.kind === 'directory')) continue;
        if (node?.kind === 'file') files.push({ path, content: node.content });
        else if (!above.includes(led)) visit(`${path}/`, led, [...above, led]);
      }
    };
    if (tree.nodes.has(root)) visit('', root, [root]);
    files.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
    return { files, isComplete };
  }

  /** What ought to become of every visible file. */
  expectations(): Expectation[] {
    const { sources, rules } = this.settings;
    const firsts = new Map<string, Expected['kind']>();
    return sources.flatMap((source) =>
      this.walk(source).files.map((file): Expectation => {
        const key = (source.keyPrefix + file.path).normalize('NFC');
        const { botId } = source;
        const set = this.rules[rules] as RuleSet;
        const expected = set.expect(file.path.normalize('NFC'), Buffer.byteLength(file.content));
        const first = firsts.get(idOf(botId, key));
        if (first === undefined || (first !== 'mirrored' && expected.kind === 'mirrored'))
          firsts.set(idOf(botId, key), expected.kind);
        const claim = first === undefined ? 'owner' : first === 'mirrored' ? 'behind' : 'contested';
        return { source, file, botId, key, expected, claim };
      }),
    );
  }

  /** Whether all directories show their own files: none is away, and no mount hides any. */
  get isAllThere(): boolean {
    return this.tree.covered === null && DIRECTORIES.every((top) => !this.isAway(top));
  }

  /** Whether a file was removed from its source, so that nothing but a removal explains that it is not there. */
  wasRemoved(source: ModelSource, path: string): boolean {
    return isAbsent(this, source, path, false);
  }

  /** Whether a file was removed, or is not looked at any more, as the configuration says. */
  isNotSynced(source: ModelSource, path: string): boolean {
    return isAbsent(this, source, path, true);
  }

  /** Whether what lies behind a link cannot be seen, or is not looked at: nobody knows then what became of it. */
  hidesFiles({ directory, symlinks }: ModelSource, link: string): boolean {
    return symlinks === 'skip' || this.tree.resolve(`${directory}/${link}`) === null;
  }

  /** Whether a key may be put away: a file that gave it was removed, or gives another key now, and no other file gives it. */
  mayPutAway(botId: string, key: string): boolean {
    if (this.settings.removals === 'keep') return false;
    return isGivenNoMore(this, botId, key, (source, path) => this.wasRemoved(source, path));
  }

  /** Whether a key that somebody wants pruned may go: the file that gave it was removed or is not synced, and no other gives it. */
  mayPrune(botId: string, key: string): boolean {
    return isGivenNoMore(this, botId, key, (source, path) => this.isNotSynced(source, path));
  }
}

/** Whether a source has no such file for certain; `mayBeLeftOut`: or does not look at it. */
function isAbsent(model: Model, source: ModelSource, path: string, mayBeLeftOut: boolean): boolean {
  const { tree } = model;
  const at = `${source.directory}/${path}`;
  if (model.isAway(source.directory)) return false;
  const names = path.split('/');
  const isIgnored = (depth: number): boolean =>
    model.ignores(source, names.slice(0, depth).join('/'), depth < names.length);
  // What hides an ignored file does not matter: the source leaves it out either way.
  if (tree.covered !== null && at.startsWith(`${tree.covered}/`))
    return mayBeLeftOut && names.some((_, index) => isIgnored(index + 1));
  for (let depth = 1; depth <= names.length; depth++) {
    const above = names.slice(0, depth).join('/');
    const isLink = tree.look(`${source.directory}/${above}`)?.kind === 'link';
    if (isLink && depth < names.length && model.hidesFiles(source, above))
      return mayBeLeftOut && source.symlinks === 'skip';
    if (isIgnored(depth)) return mayBeLeftOut;
  }
  const there = tree.look(at);
  return there === null || there.kind === 'directory';
}

/** Whether no file gives a key, and each that may have given it is gone. */
function isGivenNoMore(
  model: Model,
  botId: string,
  key: string,
  isGone: (source: ModelSource, path: string) => boolean,
): boolean {
  const { sources } = model.settings;
  if (model.expectations().some((one) => one.botId === botId && one.key === key)) return false;
  return sources.some(
    (source) =>
      source.botId === botId &&
      [...(model.prefixes.get(source.directory) ?? [])].some(
        (prefix) =>
          key.startsWith(prefix) &&
          spellings(key.slice(prefix.length)).some(
            (path) =>
              isGone(source, path) ||
              (prefix !== source.keyPrefix && model.walk(source).files.some((file) => file.path === path)),
          ),
      ),
  );
}

/** Names one key of one bot. */
export function idOf(botId: string, key: string): string {
  return `${botId} ${key}`;
}

/** The names on disk that may have given a part of a key. */
function spellings(path: string): string[] {
  const names = path.split('/').map((name) => [...new Set([name, name.normalize('NFD')])]);
  return names.reduce<string[]>(
    (paths, options) =>
      paths.length === 0 ? options : paths.flatMap((one) => options.map((name) => `${one}/${name}`)),
    [],
  );
}
