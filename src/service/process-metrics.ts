import { readdirSync } from 'node:fs';
import type { Registry } from 'prom-client';

/**
 * Adds the usual figures of a process under their usual names, found out when they are asked for. The library's own set
 * would watch the event loop all the time, which costs more than all else that an idle daemon does.
 */
export function measureProcess(library: typeof import('prom-client'), registry: Registry): void {
  const registers = [registry];
  new library.Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time used, in user and system mode.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  new library.Gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory in use.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new library.Gauge({
    name: 'process_start_time_seconds',
    help: 'When the process started.',
    registers,
  }).set(Math.round(performance.timeOrigin) / 1000);
  if (process.platform !== 'linux') return;
  new library.Gauge({
    name: 'process_open_fds',
    help: 'Open file descriptors.',
    registers,
    collect() {
      // One of them is that of the listing itself.
      this.set(readdirSync('/proc/self/fd').length - 1);
    },
  });
}
