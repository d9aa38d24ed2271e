// What the platform has, where it keeps it: the entry of each file without its content. Moments ending in `AtMs` are by the
// server's monotonic clock, `createdAt` and `updatedAt` by its wall clock.

/** Keys come in the order of a language: the platform does not say that it is that of their bytes. */
const collator = new Intl.Collator('en');

/** How two files compare by the fields that a list can be sorted by. */
const COMPARISONS = {
  key: (one, other) => collator.compare(one.key, other.key),
  size: (one, other) => one.size - other.size,
  createdAt: (one, other) => one.createdAt - other.createdAt,
  updatedAt: (one, other) => one.updatedAt - other.updatedAt,
};

/** The files of the one bot there is. */
export class KeptFiles {
  #byKey = new Map();
  #byId = new Map();
  /** Sorted lists until the next change, by field and direction. */
  #sorted = new Map();
  #count = 0;
  #indexingMs = 0;

  /** Content that arrives from now on can be searched so many milliseconds later. */
  setIndexing(milliseconds) {
    this.#indexingMs = milliseconds;
  }

  /** Takes an upsert: the file has no content until it is uploaded. `body`: its key, size and facts. */
  upsert(body, now) {
    const previous = this.#byKey.get(body.key);
    const number = previous?.number ?? (this.#count += 1);
    const file = {
      number,
      id: `file_${number}`,
      key: body.key,
      size: body.size,
      index: body.index ?? false,
      contentType: body.contentType ?? 'application/octet-stream',
      tags: body.tags ?? {},
      metadata: body.metadata ?? {},
      accessPolicies: body.accessPolicies ?? [],
      expiresAt: body.expiresAt ?? null,
      createdAt: previous?.createdAt ?? now,
      updatedAt: now,
      completeAtMs: null,
      searchableAtMs: null,
      toldSearchableAtMs: null,
    };
    this.#byKey.set(file.key, file);
    this.#byId.set(file.id, file);
    this.#sorted.clear();
    return file;
  }

  /** The last byte of a file's content has come. */
  complete(key, atMs) {
    const file = this.#byKey.get(key);
    // It may have been deleted meanwhile.
    if (file === undefined) return;
    file.completeAtMs = atMs;
    file.searchableAtMs = file.index ? atMs + this.#indexingMs : null;
  }

  /** Changes facts: tags and metadata name by name, where null takes one away. */
  update(file, { tags = {}, metadata = {}, accessPolicies, expiresAt }, now) {
    file.tags = merge(file.tags, tags);
    file.metadata = merge(file.metadata, metadata);
    if (accessPolicies !== undefined) file.accessPolicies = accessPolicies;
    if (expiresAt !== undefined) file.expiresAt = expiresAt;
    file.updatedAt = now;
    this.#sorted.clear();
  }

  delete(file) {
    this.#byKey.delete(file.key);
    this.#byId.delete(file.id);
    this.#sorted.clear();
  }

  findById(id) {
    return this.#byId.get(id);
  }

  findByKey(key) {
    return this.#byKey.get(key);
  }

  /**
   * A page of files: `{ files, after }`, where `after` is where the next one begins, `null` behind the last. `ids`: only
   * these; `null`: all.
   */
  page({ ids, field, direction, after, size }) {
    const compare = comparison(field, direction);
    const all = ids === null ? this.#sort(field, direction) : this.#named(ids).sort(compare);
    const begin = after === null ? 0 : countUpTo(all, after, compare);
    const files = all.slice(begin, begin + size);
    const isLast = begin + size >= all.length;
    return { files, after: isLast ? null : position(files.at(-1), field) };
  }

  /**
   * How soon it was told that files can be searched: `searchable` files, of which an answer said so of `told`, and the
   * median of the time in between; `null` where it is not known of half of them.
   */
  confirmation(atMs) {
    const files = [...this.#byKey.values()];
    const searchable = files.filter(
      ({ searchableAtMs }) => searchableAtMs !== null && searchableAtMs <= atMs,
    );
    const lags = searchable
      .map((file) => (file.toldSearchableAtMs ?? Infinity) - file.searchableAtMs)
      .sort((a, b) => a - b);
    const median = lags[Math.floor(lags.length / 2)] ?? Infinity;
    return {
      searchable: searchable.length,
      told: lags.filter(Number.isFinite).length,
      medianLagMs: Number.isFinite(median) ? median : null,
    };
  }

  #named(ids) {
    return [...new Set(ids)].map((id) => this.#byId.get(id)).filter((file) => file !== undefined);
  }

  #sort(field, direction) {
    const name = `${field} ${direction}`;
    let sorted = this.#sorted.get(name);
    if (sorted === undefined) {
      sorted = [...this.#byKey.values()].sort(comparison(field, direction));
      this.#sorted.set(name, sorted);
    }
    return sorted;
  }
}

/** The fields that a list can be sorted by. */
export const SORT_FIELDS = Object.keys(COMPARISONS);

function comparison(field, direction) {
  const sign = direction === 'asc' ? 1 : -1;
  return (one, other) => sign * (COMPARISONS[field](one, other) || one.number - other.number);
}

/** A file reduced to what its place in a list depends on, so that the list may change before the next page. */
function position(file, field) {
  return { [field]: file[field], number: file.number };
}

/** How many files of a sorted list do not come after a position. */
function countUpTo(files, after, compare) {
  let low = 0;
  let high = files.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(files[middle], after) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function merge(present, changes) {
  return Object.fromEntries(Object.entries({ ...present, ...changes }).filter(([, value]) => value !== null));
}
