import * as v from "valibot"

/**
 * PostgreSQL cannot store NUL, and names and titles need no line breaks or other control
 * characters.
 */
export const withoutControlCharacters = v.check(
  (text: string) => !/\p{Cc}/u.test(text),
  "Leave out control characters.",
)
