import * as v from "valibot"

/** A search of everything that the caller may see, and not of one place. */
export const Everywhere = v.optional(
  v.pipe(
    v.picklist(["true"]),
    v.description("`true`: what is personal to the caller and everything in their spaces."),
    v.metadata({ parameter: { enum: ["true"] } }),
  ),
)

export const SpaceId = v.pipe(v.string(), v.uuid())

const WHICH = "The space. What is personal to the caller without it."

/** The optional argument of everything that is either personal or in a space. */
export const InSpace = v.optional(v.pipe(SpaceId, v.description(WHICH)))

/** The same in a query, where text that is no id is refused as a space that does not exist. */
export const InNamedSpace = v.optional(
  v.pipe(v.string(), v.description(WHICH), v.metadata({ parameter: { type: "string", format: "uuid" } })),
)
