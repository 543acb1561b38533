import * as v from "valibot"

/** PostgreSQL stores no NUL, and no name or title needs a line break or a bell. */
export const withoutControlCharacters = v.check(
  (text: string) => !/\p{Cc}/u.test(text),
  "Leave out control characters.",
)
