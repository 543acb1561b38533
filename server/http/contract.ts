import * as v from "valibot"

/** The body of every refusal, unless the endpoint's own contract adds to it. */
export const Refused = v.strictObject({
  error: v.pipe(v.string(), v.nonEmpty()),
  reason: v.exactOptional(
    v.pipe(v.string(), v.description("Names the kind of error. It never changes, unlike the sentence.")),
  ),
  values: v.exactOptional(
    v.pipe(
      v.record(v.string(), v.union([v.string(), v.number(), v.strictObject({ bytes: v.number() })])),
      v.description("What the sentence names, such as a file or a limit."),
    ),
  ),
})

export const HealthReport = v.strictObject({
  status: v.literal("ok"),
  timestamp: v.pipe(v.string(), v.isoTimestamp(), v.description("The current time, ISO 8601 in UTC.")),
  uptime: v.pipe(
    v.number(),
    v.minValue(0),
    v.description("Seconds since the process started; may be fractional."),
  ),
})

export const HealthRefused = v.strictObject({
  status: v.literal("error"),
  message: v.literal("Too many requests"),
})

export const RealtimeTokenIssued = v.strictObject({
  token: v.pipe(
    v.string(),
    v.nonEmpty(),
    v.description("A JWT, for `auth.token` of the socket at /realtime."),
  ),
  expiresAt: v.pipe(v.number(), v.integer(), v.description("Milliseconds since the epoch.")),
  userId: v.pipe(
    v.string(),
    v.nonEmpty(),
    v.description("Whose token it is, by the identity provider's id."),
  ),
})
