import type { OperationResult, Surface } from './answer.ts';
import type { Platform } from './platform.ts';
import type { EmulatorRequest } from './request.ts';

/** An operation of the platform. To add one: a constant in operations/ and a line in the table of routes. */
export interface Operation {
  /** The name in faults, counts and the request log. */
  readonly name: string;
  /** GET serves HEAD as well. */
  readonly method: string;
  /**
   * Path segments; `:name` matches any one segment and is a parameter. `:file` is the id or the key of a file,
   * `:uploadId` that of its latest upsert.
   */
  readonly pattern: string;
  readonly surface: Surface;
  /** Reads the key of the file from the request, for operations whose path does not name it. */
  readonly keyOf?: (request: EmulatorRequest) => Promise<string | null>;
  /** Throws `Refusal`. */
  answer(request: EmulatorRequest, platform: Platform): OperationResult | Promise<OperationResult>;
}
