/** Snapshots and the log must print values alike, so both connections fix every setting that the text form depends on. */
export const TEXT_FORM = {
  DateStyle: "ISO, YMD",
  TimeZone: "UTC",
  IntervalStyle: "iso_8601",
  extra_float_digits: "1",
  bytea_output: "hex",
  client_encoding: "UTF8",
} as const
