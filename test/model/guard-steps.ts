import fc from 'fast-check';
import { demand } from './demand.ts';
import { idOf, type Model, type ModelSettings, type ModelSource } from './model.ts';
import { markForPrune } from './prune.ts';
import type { Real } from './real-passes.ts';
import { pick, Step } from './steps.ts';
import { mountAgain } from './tree-steps.ts';

const HOUR = 3_600_000;

const always = () => true;
const isAllThere = (model: Model): boolean => model.isAllThere;

/** More files than count as few, so that a guard halts for them. */
const MANY = 11;

/** Steps that try what guards removals, and what people may do about it. */
export function guardSteps(): fc.Arbitrary<Step<Real>>[] {
  return [
    ...Array.from({ length: 2 }, () =>
      fc.constantFrom('keep' as const, 'expire' as const, 'delete' as const).map(
        (removals) =>
          new Step<Real>(`removals.mode ${removals}`, always, (model, real) => {
            change(model, real, { removals });
          }),
      ),
    ),
    // Whoever looks while directories are away, or hidden, approves nothing.
    fc.constant(
      new Step<Real>('pass, then look at the halts', isAllThere, async (model, real) => {
        await real.pass(model);
        real.lookAtHalts();
      }),
    ),
    fc
      .nat(9999)
      .map(
        (number) =>
          new Step<Real>(`empty a source, and look at its halt(${number})`, isAllThere, (model, real) =>
            emptySource(model, real, number),
          ),
      ),
    fc.constant(
      new Step<Real>('approve what was looked at', always, async (model, real) => {
        await real.approve(model);
      }),
    ),
    ...Array.from({ length: 2 }, () =>
      fc.nat(9999).map(
        (number) =>
          new Step<Real>(`prune(${number})`, always, async (model, real) => {
            markForPrune(real.world, real.clock.now(), number);
            await real.pass(model);
          }),
      ),
    ),
    fc.constant(
      new Step<Real>('verify --prune', always, async (model, real) => {
        if (!real.mayAsk || real.hasLostState) return;
        await real.verify({ prune: true });
        await real.pass(model);
      }),
    ),
    fc
      .tuple(fc.constantFrom('other', 'empty', 'hidden'), fc.nat(9999))
      .map(
        ([what, number]) =>
          new Step<Real>(
            `verify --prune by an older state file(${what}, ${number})`,
            isAllThere,
            (model, real) => pruneByOlder(model, real, what, number),
          ),
      ),
    fc
      .tuple(fc.nat(9999), fc.boolean())
      .map(
        ([number, isApproved]) =>
          new Step<Real>(
            `another key prefix(${number}${isApproved ? ', approved' : ''})`,
            isAllThere,
            (model, real) => changePrefix(model, real, number, isApproved),
          ),
      ),
    fc
      .nat(9999)
      .map(
        (number) =>
          new Step<Real>(`swap a directory for an empty one(${number})`, isAllThere, (model, real) =>
            swap(model, real, number),
          ),
      ),
    fc
      .nat(9999)
      .map(
        (number) =>
          new Step<Real>(`mount over a directory for an hour(${number})`, isAllThere, (model, real) =>
            mountOver(model, real, number),
          ),
      ),
  ];
}

function change(model: Model, real: Real, settings: Partial<ModelSettings>): void {
  model.settings = { ...model.settings, ...settings };
  real.world.configure(model.configFields());
}

/** Whether the platform answers, and our clock goes right, so that what ought to happen does. */
function isUsual({ world: { emulator }, clock }: Real): boolean {
  return (
    emulator.faults.pending().length === 0 && emulator.conditions.current.length === 0 && clock.skewMs === 0
  );
}

/** All that is in a source is deleted, which somebody looks at: it halts, if anything of it is on record. */
async function emptySource(model: Model, real: Real, number: number): Promise<void> {
  const top = pick(model.settings.sources, number)?.directory;
  if (top === undefined) return;
  await real.pass(model);
  await real.beforeEdit();
  for (const name of model.tree.names(top)) model.tree.remove(`${top}/${name}`);
  model.ignoreFiles.delete(top);
  await real.pass(model);
  real.lookAtHalts();
}

/**
 * Files come after a copy of the state file was made, which is then put back while the directory is empty, another one, or partly
 * hidden: they are orphans by then, and exist in the real directory.
 */
async function pruneByOlder(model: Model, real: Real, what: string, number: number): Promise<void> {
  const source = pick(model.settings.sources, number);
  if (source === undefined || !real.mayAsk || !isUsual(real) || real.mayLackOperations) return;
  const { tree } = model;
  const top = source.directory;
  await real.pass(model, { allowRemovals: true });
  const settled = await real.pass(model);
  if (settled.requests > 0 || settled.exitCode !== 0) return;
  const older = real.saveState('older');
  await real.beforeEdit();
  const below = plant(tree, `${top}/later`, 3, number);
  if (below === null) return;
  const sent = await real.pass(model);
  const before = real.observe();
  const hidden = what === 'hidden';
  if (hidden && !tree.cover(below)) return;
  if (!hidden) {
    tree.move(top, `${top}.away`);
    tree.makeDirectory(top);
    if (what === 'other') tree.write(`${top}/other.md`, 'other');
  }
  try {
    await real.withStateOf(older, async () => {
      await real.verify({ prune: true, isOlder: true });
      for (let pass = 0; pass < 2; pass++) {
        const { events } = await real.world.pass();
        for (const { source: name, kind, key } of events) {
          const botId = model.settings.sources.find((one) => one.name === name)?.botId;
          if (kind === 'upload' && botId !== undefined && key !== null)
            real.others.noteUnknown(idOf(botId, key));
        }
        real.clock.advance(HOUR);
      }
    });
    const after = real.observe();
    for (const { path } of sent.events.filter(({ kind }) => kind === 'upload')) {
      const key = (source.keyPrefix + path).normalize('NFC');
      const id = idOf(source.botId, key);
      const there = before.platform.get(id);
      if (there?.content === null || there === undefined) continue;
      demand(after.platform.get(id)?.content === there.content, `pruned, though it exists: ${id}`);
    }
  } finally {
    tree.uncover();
    if (!hidden) mountAgain(tree, top);
  }
}

/** A source of many files gets other keys: nothing is sent before that is approved. */
async function changePrefix(model: Model, real: Real, number: number, isApproved: boolean): Promise<void> {
  const source = pick(model.settings.sources, number);
  if (source === undefined || !isUsual(real)) return;
  await real.beforeEdit();
  if (plant(model.tree, `${source.directory}/many`, MANY, number) === null) return;
  await real.pass(model, { allowRemovals: true });
  const to = source.keyPrefix === 'n/' ? '' : 'n/';
  const before = model.settings;
  const { sources } = before;
  change(model, real, { sources: sources.map((one) => (one === source ? { ...one, keyPrefix: to } : one)) });
  const files = moved(model, real, source);
  const held = await real.pass(model);
  const isHalted = real.halts().get(source.name)?.kind === 'new-keys';
  const isSending = held.events.some((event) => event.source === source.name && event.kind === 'upload');
  if (files >= MANY) demand(isHalted && !isSending, `${files} files got new keys without an approval`);
  real.lookAtHalts();
  if (isApproved) await real.approve(model);
  else change(model, real, { sources });
  await real.pass(model);
}

/** How many files of a source are on record as sent, and under the keys of the configuration are not on record at all. */
function moved(model: Model, real: Real, { name, keyPrefix, botId }: ModelSource): number {
  const { rows } = real.observe();
  return model.expectations().filter(({ source, file, key }) => {
    const before = rows.get(idOf(botId, (keyPrefix + file.path).normalize('NFC')));
    const isSent = before?.source === name && before.state === 'synced' && before.absence === null;
    return source.name === name && isSent && !rows.has(idOf(botId, key));
  }).length;
}

/** A directory is swapped for an empty one, and back: what is in it stays for as long as `removals.delay`. */
async function swap(model: Model, real: Real, number: number): Promise<void> {
  const { tree } = model;
  const aside = `outside/swapped-${number}`;
  if (!tree.isFree(aside)) return;
  const tops = model.settings.sources.map(({ directory }) => directory);
  const directory = pick(
    tops.flatMap((top) => tree.list('directory', top)),
    number,
  );
  if (directory === undefined) return;
  await hide(model, real, directory, 'removed at the first look', {
    begin: async () => {
      await real.beforeEdit();
      tree.move(directory, aside);
      tree.makeDirectory(directory);
      return true;
    },
    end: async () => {
      await real.beforeEdit();
      tree.remove(directory);
      tree.move(aside, directory);
    },
  });
}

/** A file system is mounted over a directory, for longer than `removals.delay`: what it hides stays. */
async function mountOver(model: Model, real: Real, number: number): Promise<void> {
  const { tree } = model;
  const top = pick(model.settings.sources, number)?.directory;
  if (top === undefined) return;
  await real.beforeEdit();
  // A source that is all empty halts for another reason.
  if (tree.isFree(`${top}/beside.md`)) tree.write(`${top}/beside.md`, `${number} beside`);
  const below = plant(tree, `${top}/below`, 3, number);
  if (below === null) return;
  await hide(model, real, below, 'removed though it is hidden by a mount', {
    begin: async () => {
      if (!tree.cover(below)) return false;
      await real.pass(model);
      real.clock.advance(HOUR);
      return true;
    },
    end: () => {
      tree.uncover();
      return Promise.resolve();
    },
  });
}

/** Writes some files into a directory, which is made. Returns it; `null`: something else is there. */
function plant(tree: Model['tree'], below: string, files: number, number: number): string | null {
  if (!tree.nodes.has(below)) tree.makeDirectory(below);
  if (tree.nodes.get(below)?.kind !== 'directory') return null;
  for (let file = 0; file < files; file++)
    if (tree.isFree(`${below}/${file}.md`)) tree.write(`${below}/${file}.md`, `${number} ${file}`);
  return below;
}

/** Hides the files of a directory, makes a pass, and demands that the platform has them as before. */
async function hide(
  model: Model,
  real: Real,
  directory: string,
  fault: string,
  { begin, end }: { readonly begin: () => Promise<boolean>; readonly end: () => Promise<void> },
): Promise<void> {
  if (!isUsual(real)) return;
  await real.pass(model);
  const inside = new Set(
    model
      .expectations()
      .filter(({ source, file }) => `${source.directory}/${file.path}`.startsWith(`${directory}/`))
      .map(({ botId, key }) => idOf(botId, key)),
  );
  const before = real.observe();
  if (!(await begin())) return;
  await real.pass(model);
  const after = real.observe();
  for (const id of inside) {
    const row = before.rows.get(id);
    const there = before.platform.get(id);
    const content = there?.content ?? null;
    if (content === null || row?.state !== 'synced' || row.absence !== null) continue;
    const expiresAtMs = there?.expiresAtMs ?? Infinity;
    if (expiresAtMs <= real.clock.platformNow()) continue;
    demand(after.platform.get(id)?.content === content, `${fault}: ${id}`);
  }
  await end();
}
