/** Which configuration is meant, and whether the emulator plays the platform. */
export interface RunTarget {
  /** The configuration file as it was named. */
  readonly config: string;
  readonly emulator: boolean;
}
