/**
 * Whether a name can be one segment of an address once it is percent-encoded: an empty one or one of dots would make another
 * address, and half a surrogate pair cannot be encoded.
 */
export function isSegment(name: string): boolean {
  return !/^\.{0,2}$|\p{Surrogate}/u.test(name);
}
