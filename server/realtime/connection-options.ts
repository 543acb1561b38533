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
 * The same for the transaction that it is run in. Not for a session: a pooler would hand that to
 * somebody else.
 */
export const SET_TEXT_FORM = Object.entries(TEXT_FORM)
  .filter(([name]) => name !== "client_encoding")
  .map(([name, value]) => `set local ${name} = '${value}'`)
  .join("; ")
