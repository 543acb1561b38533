import * as v from "valibot"

export const SpaceId = v.pipe(v.string(), v.uuid())

/** The optional argument of everything that is either personal or in a space. */
export const InSpace = v.optional(
  v.pipe(SpaceId, v.description("The space. What is personal to the caller without it.")),
)
