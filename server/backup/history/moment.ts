import * as v from "valibot"

/**
 * A moment of a history: milliseconds since the epoch, or the latest. Written in UTC as
 * `2026-11-22 14:03`, with seconds and parts of them if wanted, or in ISO 8601 with an offset.
 */
export const Moment = v.pipe(
  v.string(),
  v.transform(readMoment),
  v.union(
    [v.literal("latest"), v.pipe(v.number(), v.finite())],
    'The moment after --to must be latest, or a date and a time in UTC, such as "2026-11-22 14:03".',
  ),
)

export type Moment = v.InferOutput<typeof Moment>

function readMoment(text: string): string | number {
  if (text === "latest") return text
  const [, day, time, offset = "Z"] =
    /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(Z|[+-]\d\d:\d\d)?$/.exec(text.trim()) ?? []
  return day === undefined ? Number.NaN : Date.parse(`${day}T${time}${offset}`)
}
