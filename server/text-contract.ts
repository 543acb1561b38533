import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"

/**
 * PostgreSQL cannot store NUL, and names and titles need no line breaks or other control
 * characters.
 */
export const withoutControlCharacters = v.check(
  (text: string) => !/\p{Cc}/u.test(text),
  reason("control-characters"),
)
