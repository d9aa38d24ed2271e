import type { GlobalOptions } from './global-options.ts';

/** Options of the commands that print what the platform says of a resource. */
export interface ResourceOptions extends GlobalOptions {
  /** Secrets in the answer are shown; our own never are. */
  readonly showSecrets: boolean;
}
