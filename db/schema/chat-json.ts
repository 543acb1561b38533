import * as v from "valibot"

/** The JSON columns of a conversation's rows, for the published document. */
export const AttachmentRows = v.array(
  v.strictObject({
    fileId: v.pipe(v.string(), v.uuid()),
    fileName: v.string(),
    mimeType: v.string(),
    size: v.pipe(v.number(), v.integer(), v.description("Bytes.")),
  }),
)

export const MentionRows = v.pipe(
  v.array(v.string()),
  v.description("The names after an @ that were members' of the space. Null if there are none."),
)

const Outcome = {
  input: v.exactOptional(v.unknown()),
  output: v.exactOptional(v.unknown()),
  error: v.exactOptional(v.string()),
}

export const PartRows = v.array(
  v.variant("type", [
    v.strictObject({ type: v.literal("text"), text: v.string() }),
    v.strictObject({ type: v.literal("reasoning"), text: v.string() }),
    v.strictObject({ type: v.literal("tool"), callId: v.string(), name: v.string(), ...Outcome }),
  ]),
)

export const RecallRows = v.pipe(
  v.strictObject({
    from: v.exactOptional(v.pipe(v.string(), v.uuid())),
    without: v.exactOptional(v.array(v.picklist(["images", "failed"]))),
  }),
  v.description(
    "What the model did not receive of the conversation: the messages before `from`, and what is in `without`: the images, or the messages whose reply failed. Null if it received everything.",
  ),
)

export const DeltaRows = v.array(
  v.variant("type", [
    v.strictObject({ type: v.picklist(["text", "reasoning"]), id: v.string(), text: v.string() }),
    v.strictObject({
      type: v.literal("tool"),
      callId: v.string(),
      name: v.exactOptional(v.string()),
      ...Outcome,
    }),
  ]),
)
