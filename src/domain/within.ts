/** Whether a real path is a directory itself or lies below it. Both are absolute and without links. */
export function isWithin(realRoot: string, realPath: string): boolean {
  const root = realRoot.endsWith('/') ? realRoot : `${realRoot}/`;
  return realPath === realRoot || realPath.startsWith(root);
}

/** Whether a relative path names something below the directory that it starts at. */
export function leadsBelow(path: string): boolean {
  return (
    !path.includes('\0') && !path.split('/').some((name) => name === '' || name === '.' || name === '..')
  );
}
