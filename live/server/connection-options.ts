/**
 * Snapshots and the log must print values alike, so both fix every setting that the text form
 * depends on.
 */
export const TEXT_FORM = {
  DateStyle: "ISO, YMD",
  TimeZone: "UTC",
  IntervalStyle: "iso_8601",
  extra_float_digits: "1",
  bytea_output: "hex",
  client_encoding: "UTF8",
} as const

/**
 * The same for the current transaction. Not for the session: a pooler would pass it to another
 * client.
 */
export const SET_TEXT_FORM = Object.entries(TEXT_FORM)
  .filter(([name]) => name !== "client_encoding")
  .map(([name, value]) => `set local ${name} = '${value}'`)
  .join("; ")
