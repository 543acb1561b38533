interface Chance {
  /** A random integer below this. */
  below(limit: number): number
  chance(probability: number): boolean
}

/** A random value of each type as PostgreSQL reads it; null more often than rarely. */
export function aRow(by: Chance): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(VALUES).map(([type, value]) => [type, by.chance(0.1) ? null : value(by)]),
  )
}

const oneOf =
  (...values: string[]) =>
  ({ below }: Chance) =>
    values[below(values.length)] ?? ""

const either =
  (edges: string[], ordinary: (by: Chance) => string) =>
  (by: Chance): string =>
    by.chance(0.5) ? oneOf(...edges)(by) : ordinary(by)

/** What COPY, arrays, CSV and terminals escape or end at, and characters of every length in UTF-8. */
const FRAGMENTS = [
  ...Array.from("\b\f\n\r\t\v\\\"'{}(),;:%_ \u0001\u001b\u007f\u0085\u00a0\u2028\ufeff\ufffd\uffff"),
  ...Array.from("aZ0éß漢😀\u{10ffff}e\u0301\u202e\u200d"),
  "\\N",
  "\\.",
  "\\n",
  "\\\\",
  "\\x41",
  "\\101",
  "\r\n",
  "NULL",
  "null",
  "$$",
  "--",
  "\\.\n",
  "\n\\.\n",
]

const text = either(["", " ", "\n", "\t", "\\", "\\N", "\\.", "NULL", "{}", "\\x", '""'], ({ below }) =>
  Array.from({ length: below(below(20) === 0 ? 3000 : 12) }, () => FRAGMENTS[below(FRAGMENTS.length)]).join(
    "",
  ),
)

/** Any bits, of which the shortest text that reads as the same number is PostgreSQL's to find. */
const double = either(
  [
    "NaN",
    "Infinity",
    "-Infinity",
    "0",
    "-0",
    "5e-324",
    "1.7976931348623157e308",
    "2.2250738585072014e-308",
    "0.1",
  ],
  ({ below }) => {
    const bits = new DataView(new ArrayBuffer(8))
    for (let at = 0; at < 8; at++) bits.setUint8(at, below(256))
    return String(bits.getFloat64(0))
  },
)

const real = either(
  ["NaN", "Infinity", "-Infinity", "0", "-0", "1e-45", "3.4028235e38", "1.1754944e-38", "0.1", "16777217"],
  ({ below }) => {
    const bits = new DataView(new ArrayBuffer(4))
    for (let at = 0; at < 4; at++) bits.setUint8(at, below(256))
    return String(bits.getFloat32(0))
  },
)

const digits = (by: Chance, length: number) => Array.from({ length }, () => by.below(10)).join("")
const sign = (by: Chance) => (by.chance(0.5) ? "-" : "")

const numeric = either(
  ["NaN", "Infinity", "-Infinity", "0", "0.0", "0.000", "-1.10", "1e-16383", "9".repeat(400), "1e1000"],
  (by) => `${sign(by)}${digits(by, 1 + by.below(40))}.${digits(by, 1 + by.below(40))}`,
)

const two = (value: number) => String(value).padStart(2, "0")
const day = ({ below }: Chance) =>
  `${String(1 + below(9999)).padStart(4, "0")}-${two(1 + below(12))}-${two(1 + below(28))}`
const time = (by: Chance) =>
  `${two(by.below(24))}:${two(by.below(60))}:${two(by.below(60))}.${digits(by, 1 + by.below(6))}`

const date = either(
  [
    "infinity",
    "-infinity",
    "4713-11-24 BC",
    "5874897-12-31",
    "0001-12-31 BC",
    "0001-01-01",
    "2000-02-29",
    "epoch",
  ],
  day,
)
const timestamp = either(
  [
    "infinity",
    "-infinity",
    "4713-11-24 00:00:00 BC",
    "294276-12-31 23:59:59.999999",
    "2000-01-01 00:00:00.000001",
  ],
  (by) => `${day(by)} ${time(by)}`,
)
const timestamptz = either(
  [
    "infinity",
    "-infinity",
    "4713-11-24 00:00:00+00 BC",
    "294276-12-31 23:59:59.999999+00",
    // Twice the same hour on the clock, in a place that changes it.

    "2026-10-25 02:30:00 Europe/Berlin",
    "2026-10-25 02:30:00+01",
    "1883-11-18 12:03:57 America/New_York",
  ],
  (by) => `${day(by)} ${time(by)}+00`,
)
const interval = either(
  [
    "0",
    "infinity",
    "-infinity",
    "178000000 years",
    "-1 mon +1 day -00:00:00.000001",
    "1 mon -30 days",
    "24:00:00",
  ],
  (by) => `${sign(by)}${by.below(999)} mons ${sign(by)}${by.below(999)} days ${sign(by)}${time(by)}`,
)

const bytea = either(["\\x", "\\x00", "\\x5c", "\\x0a", "\\x5c2e0a", "\\xff"], ({ below }) => {
  const bytes = Array.from({ length: below(80) }, () => two16(below(256)))
  return `\\x${bytes.join("")}`
})
const two16 = (value: number) => value.toString(16).padStart(2, "0")
const uuid = ({ below }: Chance) => Array.from({ length: 16 }, () => two16(below(256))).join("")

/** jsonb keeps the digits of a number and refuses U+0000. */
const json = either(
  [
    "null",
    "{}",
    "[]",
    '""',
    '"\\\\u0041"',
    "1.10",
    "1e400",
    "-0",
    "123456789012345678901234567890.0",
    "[null]",
  ],
  (by) => JSON.stringify(nested(by, 3)),
)

function nested(by: Chance, depth: number): unknown {
  const kind = by.below(depth > 0 ? 6 : 4)
  if (kind === 0) return null
  if (kind === 1) return by.chance(0.5)
  if (kind === 2) return (by.below(2_000_001) - 1_000_000) / 8
  if (kind === 3) return text(by)
  const items = Array.from({ length: by.below(4) }, () => nested(by, depth - 1))
  return kind === 4 ? items : Object.fromEntries(items.map((item) => [text(by), item]))
}

const array =
  (value: (by: Chance) => string) =>
  (by: Chance): string => {
    const items = () => Array.from({ length: 1 + by.below(4) }, () => element(by, value)).join(",")
    const shape = by.below(5)
    if (shape === 0) return "{}"
    if (shape === 1) return `{{${element(by, value)}},{${element(by, value)}}}`
    if (shape === 2) return `[-2:-1]={${element(by, value)},${element(by, value)}}`
    return `{${items()}}`
  }

const element = (by: Chance, value: (by: Chance) => string) =>
  by.chance(0.2) ? "NULL" : `"${value(by).replaceAll(/["\\]/g, "\\$&")}"`

const VALUES: Record<string, (by: Chance) => string> = {
  boolean: oneOf("true", "false"),
  smallint: either(["-32768", "32767", "0"], ({ below }) => String(below(65_536) - 32_768)),
  integer: either(["-2147483648", "2147483647", "0"], ({ below }) => String(below(2 ** 32) - 2 ** 31)),
  bigint: either(
    ["-9223372036854775808", "9223372036854775807", "9007199254740993"],
    (by) => sign(by) + digits(by, 18),
  ),
  numeric,
  real,
  "double precision": double,
  text,
  "character varying": text,
  bytea,
  date,
  "time without time zone": either(["00:00:00", "24:00:00", "23:59:59.999999"], time),
  "time with time zone": either(["00:00:00+15:59:59", "24:00:00-15:59:59"], (by) => `${time(by)}+05:45`),
  "timestamp without time zone": timestamp,
  "timestamp with time zone": timestamptz,
  interval,
  uuid,
  json,
  jsonb: json,
  inet: oneOf("0.0.0.0/0", "10.0.0.1/8", "255.255.255.255", "::", "::ffff:1.2.3.4", "fe80::1/64"),
  int4range: oneOf("empty", "(,)", "[1,1]", "[-5,)", "(,7)"),
  tstzrange: oneOf("empty", "(,)", "[-infinity,infinity]", '["2026-10-25 02:30:00+01",)'),
  tsvector: oneOf("", "'it''s':1A 'tide':2B,3", "'\\\\':1 'a b':7"),
  "text[]": array(text),
  "uuid[]": array(uuid),
  "bytea[]": array(bytea),
  "jsonb[]": array(json),
  "numeric[]": array(numeric),
  "double precision[]": array(double),
  "timestamp with time zone[]": array(timestamptz),
}

/** The types of the values, which are the names of their columns. */
export const TYPES = Object.keys(VALUES)
