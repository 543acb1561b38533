import { Unavailable } from "#server/errors.ts"

/** What a store that refuses to be written to leads to; `cause` is the store's own error, for operators. */
export function refusedBy(cause: unknown): Error {
  return Object.assign(new Unavailable("file-store-refuses"), { cause })
}
