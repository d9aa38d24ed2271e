import fc from 'fast-check';
import { awayFrom, DIRECTORIES, OUTSIDE, type Model } from './model.ts';
import { IGNORE_SETS } from './rule-sets.ts';
import { pick, Step } from './steps.ts';
import { isAtOrBelow, nameOf, type Tree } from './tree.ts';

/** Names of files; the last two are one name in two forms. */
const FILE_NAMES = ['a.md', 'b.txt', 'c.md', 'd', 'e.txt', 'n.tmp', 'caf\u00e9.md', 'cafe\u0301.md'];
const DIRECTORY_NAMES = ['a', 'b', 'c', 'a.d'];

/** More links than these could make of a few directories a great many paths. */
const MOST_LINKS = 3;

/** What the steps on directories need of the real system. */
export interface Edited {
  /** Called before something is changed. */
  readonly beforeEdit: () => Promise<void>;
}

const TOPS = [...DIRECTORIES, OUTSIDE];

/** Tops whose files are there. */
const tops = (model: Model): string[] => TOPS.filter((top) => !model.isAway(top));
const all = (model: Model, kind: 'file' | 'directory' | 'link'): string[] =>
  tops(model).flatMap((top) => model.tree.list(kind, top));
/** Ignore files are changed by a step of their own. */
const filesOf = (model: Model): string[] =>
  all(model, 'file').filter((path) => nameOf(path) !== '.botsyncignore');
const parentsOf = (model: Model): string[] => [...tops(model), ...all(model, 'directory')];

/** Content that tells which step wrote it; sizes on both sides of the limits. */
function contentOf(number: number, sizeBytes: number): string {
  return `${number} `.padEnd(sizeBytes, 'x').slice(0, sizeBytes);
}

const number = fc.nat(9999);
const size = fc.oneof(
  { weight: 6, arbitrary: fc.nat(30) },
  { weight: 2, arbitrary: fc.constantFrom(40, 41, 60) },
  fc.constantFrom(0, 121),
);

/** Steps that change the directories. */
export function treeSteps<Real extends Edited>(): fc.Arbitrary<Step<Real>>[] {
  const edit = (
    label: string,
    isPossible: (model: Model) => boolean,
    act: (tree: Tree, model: Model) => void,
  ): Step<Real> =>
    new Step(
      label,
      (model) => model.tree.covered === null && isPossible(model),
      async (model, real) => {
        await real.beforeEdit();
        act(model.tree, model);
      },
    );

  /** A step on one of the files, directories or links that are there. */
  const onOne = (
    label: string,
    from: (model: Model) => string[],
    n: number,
    act: (tree: Tree, path: string) => void,
  ) =>
    edit(
      `${label}(${n})`,
      (model) => from(model).length > 0,
      (tree, model) => {
        act(tree, pick(from(model), n) as string);
      },
    );

  /** A step that makes a new entry. */
  const making = (
    label: string,
    where: number,
    name: string,
    act: (tree: Tree, path: string, model: Model) => void,
  ) => {
    const path = (model: Model): string => `${pick(parentsOf(model), where) ?? ''}/${name}`;
    return edit(
      `${label}(${where}, ${name})`,
      (model) => model.tree.isFree(path(model)),
      (tree, model) => {
        act(tree, path(model), model);
      },
    );
  };

  const fileName = fc.constantFrom(...FILE_NAMES);
  const directoryName = fc.constantFrom(...DIRECTORY_NAMES);

  const create = fc.tuple(number, fileName, size, number).map(([where, name, sizeBytes, n]) =>
    making('create', where, name, (tree, path) => {
      tree.write(path, contentOf(n, sizeBytes));
    }),
  );
  const rewrite = fc.tuple(number, size, number).map(([n, sizeBytes, text]) =>
    onOne('edit', filesOf, n, (tree, path) => {
      tree.write(path, contentOf(text, sizeBytes));
    }),
  );
  const unnoticeably = fc.tuple(number, number).map(([n, text]) =>
    onOne('edit, same size and mtime', filesOf, n, (tree, path) => {
      tree.rewriteUnnoticeably(path, contentOf(text, Buffer.byteLength(tree.content(path))));
    }),
  );
  const touch = fc.tuple(number, number).map(([n, atSeconds]) =>
    onOne('touch', filesOf, n, (tree, path) => {
      tree.touch(path, 1_700_000_000 + atSeconds);
    }),
  );
  const append = fc.tuple(number, number).map(([n, text]) =>
    onOne('append', filesOf, n, (tree, path) => {
      tree.append(path, `+${text}`);
    }),
  );
  const truncate = fc.tuple(number, fc.nat(30)).map(([n, sizeBytes]) =>
    onOne('truncate', filesOf, n, (tree, path) => {
      tree.truncate(path, Math.min(sizeBytes, tree.content(path).length));
    }),
  );
  const remove = number.map((n) =>
    onOne(
      'delete',
      (model) => [...filesOf(model), ...all(model, 'link')],
      n,
      (tree, path) => {
        tree.remove(path);
      },
    ),
  );
  const makeDirectory = fc.tuple(number, directoryName).map(([where, name]) =>
    making('mkdir', where, name, (tree, path) => {
      tree.makeDirectory(path);
    }),
  );
  const removeDirectory = number.map((n) =>
    onOne(
      'rmdir',
      (model) => all(model, 'directory'),
      n,
      (tree, path) => {
        tree.remove(path);
      },
    ),
  );
  const moveFile = fc.tuple(number, number, fileName).map(([n, where, name]) => {
    const places = (model: Model) => ({
      from: pick(filesOf(model), n) ?? '',
      to: `${pick(parentsOf(model), where) ?? ''}/${name}`,
    });
    return edit(
      `move(${n} to ${where}, ${name})`,
      (model) => {
        const { from, to } = places(model);
        // In the place of another as well: that is how programs save.
        return (
          from !== '' && from !== to && (model.tree.isFree(to) || model.tree.nodes.get(to)?.kind === 'file')
        );
      },
      (tree, model) => {
        const { from, to } = places(model);
        tree.move(from, to);
      },
    );
  });
  const moveDirectory = fc.tuple(number, number, directoryName).map(([n, where, name]) => {
    const places = (model: Model) => ({
      from: pick(all(model, 'directory'), n) ?? '',
      to: `${pick(parentsOf(model), where) ?? ''}/${name}`,
    });
    return edit(
      `move directory(${n} to ${where}, ${name})`,
      (model) => {
        const { from, to } = places(model);
        return from !== '' && !isAtOrBelow(from, to) && model.tree.isFree(to);
      },
      (tree, model) => {
        const { from, to } = places(model);
        tree.move(from, to);
      },
    );
  });
  const link = fc.tuple(number, fc.constantFrom('l', 'm.md', 'b'), number).map(([where, name, target]) => {
    const path = (model: Model): string => `${pick(parentsOf(model), where) ?? ''}/${name}`;
    return edit(
      `link(${where}, ${name} to ${target})`,
      (model) => model.tree.isFree(path(model)) && all(model, 'link').length < MOST_LINKS,
      (tree, model) => {
        const targets = [...parentsOf(model), ...filesOf(model), 'outside/nowhere'];
        tree.link(path(model), pick(targets, target) as string);
      },
    );
  });
  const ignoreFile = fc
    .tuple(fc.constantFrom(...DIRECTORIES), fc.nat(IGNORE_SETS.length - 1))
    .map(([top, set]) =>
      edit(
        `ignore file(${top}, ${set})`,
        (model) => !model.isAway(top),
        (tree, model) => {
          model.ignoreFiles.set(top, set);
          tree.write(`${top}/.botsyncignore`, `${IGNORE_SETS[set]?.lines.join('\n') ?? ''}\n`);
        },
      ),
    );
  const unmount = fc.tuple(fc.constantFrom(...DIRECTORIES), fc.boolean()).map(([top, leavesDirectory]) =>
    edit(
      `unmount(${top}${leavesDirectory ? ', a directory stays' : ''})`,
      (model) => !model.isAway(top),
      (tree) => {
        tree.move(top, awayFrom(top));
        if (leavesDirectory) tree.makeDirectory(top);
      },
    ),
  );
  const mount = fc.constantFrom(...DIRECTORIES).map((top) =>
    edit(
      `mount(${top})`,
      (model) => model.isAway(top),
      (tree) => {
        mountAgain(tree, top);
      },
    ),
  );
  return [
    ...[create, create, create, rewrite, unnoticeably, unnoticeably, touch, append, truncate, remove],
    ...[makeDirectory, removeDirectory, moveFile, moveDirectory, link, ignoreFile, unmount, mount, mount],
  ];
}

/** Steps that mount an empty file system over a directory of a source, and unmount it; where that is allowed. */
export function mountSteps<Real extends Edited>(): fc.Arbitrary<Step<Real>>[] {
  const directoriesOf = (model: Model): string[] =>
    DIRECTORIES.flatMap((top) => (model.isAway(top) ? [] : model.tree.list('directory', top)));
  const cover = number.map(
    (n) =>
      new Step<Real>(
        `cover(${n})`,
        (model) => model.tree.covered === null && directoriesOf(model).length > 0,
        (model) => {
          model.tree.cover(pick(directoriesOf(model), n) as string);
        },
      ),
  );
  const uncover = fc.constant(
    new Step<Real>(
      'uncover',
      (model) => model.tree.covered !== null,
      (model) => {
        model.tree.uncover();
      },
    ),
  );
  return [cover, cover, uncover, uncover];
}

/** Puts a directory back in its place. */
export function mountAgain(tree: Tree, top: string): void {
  if (tree.nodes.has(top)) tree.remove(top);
  tree.move(awayFrom(top), top);
}
