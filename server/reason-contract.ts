import type { Reason, ValuesArgument } from "./refusal-contract.ts"

/**
 * A reason as the message of a schema, for `dataOfIssue`: `v.maxLength(200, reason("title-too-long",
 * { most: 200 }))`. Browsers load this module, and not the texts.
 */
export function reason<R extends Reason>(name: R, ...[values]: ValuesArgument<R>): string {
  return values === undefined ? name : `${name} ${JSON.stringify(values)}`
}
