import { BlockList, isIP } from 'node:net';

export interface ListenAddress {
  /** An IP address, without brackets. */
  readonly host: string;
  /** 0 to 65535; 0 lets the system choose. */
  readonly port: number;
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Returns whether an IP address is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  return loopback.check(host, isIP(host) === 4 ? 'ipv4' : 'ipv6');
}

/** For example `127.0.0.1:9464`, `[::1]:9464`. */
export function formatAddress({ host, port }: ListenAddress): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}
