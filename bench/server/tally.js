/** What the server saw since its conditions were last set; times in milliseconds since then. */
export class Tally {
  #beganMs = performance.now();
  /** By client, as its token names it: `admitted` (times) and `refused` (how many) of its requests to the platform. */
  clients = {};
  /** By operation of the platform: how many requests came. */
  operations = {};
  uploads = { begun: 0, completed: 0, aborted: 0, bytes: 0 };
  /** By key: when its upload was last complete. */
  completed = {};

  get nowMs() {
    return performance.now() - this.#beganMs;
  }

  request(client, operation, isAdmitted) {
    this.operations[operation] = (this.operations[operation] ?? 0) + 1;
    const seen = (this.clients[client] ??= { admitted: [], refused: 0 });
    if (isAdmitted) seen.admitted.push(this.nowMs);
    else seen.refused += 1;
  }

  /** Counts an upload from its headers to its end, be it whole or not. */
  upload(request, key) {
    this.uploads.begun += 1;
    request.on('data', (chunk) => (this.uploads.bytes += chunk.length));
    request.on('close', () => {
      if (request.complete) {
        this.uploads.completed += 1;
        this.completed[key] = this.nowMs;
      } else {
        this.uploads.aborted += 1;
      }
    });
  }
}
