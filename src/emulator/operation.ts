import type { OperationResult } from './answer.ts';
import type { Platform } from './platform.ts';
import type { EmulatorRequest } from './request.ts';

/** Which file a request is about, as far as the request tells; for scripted faults and the request log. */
export interface AddressedFile {
  readonly key: string | null;
}

/** One operation of the platform. Adding one: a constant in operations/ and a line in the table of routes. */
export interface Operation {
  /** The name in faults, counts and the request log. */
  readonly name: string;
  /** GET serves HEAD as well. */
  readonly method: string;
  /** Path segments; `:name` takes any one segment, decoded, as a parameter. */
  readonly pattern: string;
  /**
   * `api`: bearer token, rate limit, JSON errors. `admin`: the same and the workspace id. `chat`: the webhook id in
   * the path, rate limit, JSON errors. `store`: the address itself is the permission, XML errors.
   * `page`: for people.
   */
  readonly surface: Surface;
  identify(request: EmulatorRequest, platform: Platform): AddressedFile | Promise<AddressedFile>;
  answer(request: EmulatorRequest, platform: Platform): OperationResult | Promise<OperationResult>;
}

/** The faces of the emulator. Source: interface.md, Authentication; platform-facts.md, The upload. */
export type Surface = 'api' | 'admin' | 'chat' | 'store' | 'page';

/** For operations that are about no file. */
export function aboutNoFile(): AddressedFile {
  return { key: null };
}
