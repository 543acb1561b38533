/**
 * Why a reply failed, by its reason. The stream of a reply, and the stored reply, hold the sentence:
 * the protocol of the `ai` package has only a text for errors.
 */
export const failureTexts = {
  "conversation-unread": "The conversation couldn't be loaded. Try again.",
  "image-unreadable":
    "The model couldn't read an image. Send it in another format, or smaller. (Reference {reference})",
  "images-not-supported":
    "This model can't receive images. Send the message without them, or ask the administrator for a model that can. (Reference {reference})",
  "message-refused":
    "The model server refused this message. Send it in other words or without its files; if that is refused too, tell the administrator. (Reference {reference})",
  "message-too-long-for-model":
    "This is too long for the model, together with the files and what the tools found. Shorten it or split it. (Reference {reference})",
  "message-withheld":
    "The model, or a content filter, refused this message. Send it in other words. (Reference {reference})",
  "model-busy": "The model is busy. Try again in a moment. (Reference {reference})",
  "model-failed": "The model couldn't reply. Try again. (Reference {reference})",
  "model-refused":
    "The model server refused the request. Only the administrator of this site can fix this. (Reference {reference})",
  "tool-failed": "The tool failed.",
} as const

type FailureReason = keyof typeof failureTexts

/** `reference` is the id under which the log has the cause. */
export function writeFailure(reason: FailureReason, reference = ""): string {
  return failureTexts[reason].replace("{reference}", reference)
}

/** Finds the reason of a sentence that `writeFailure` wrote, so that it can be translated. */
export function readFailure(message: string) {
  const [, reference = ""] = /\(Reference ([^)]+)\)$/.exec(message) ?? []
  const reasons = Object.keys(failureTexts) as FailureReason[]
  const reason = reasons.find((one) => writeFailure(one, reference) === message)
  return { message, reason, values: { reference } }
}

/** The model refused the message itself, so that later requests leave it out. */
const MESSAGE_REFUSED = [
  "message-refused",
  "message-too-long-for-model",
  "message-withheld",
] as const satisfies FailureReason[]

/** The same as patterns of SQL's `like`. */
export const MESSAGE_REFUSED_LIKE = MESSAGE_REFUSED.map((reason) => writeFailure(reason, "%"))

/** What later requests leave out of a message whose reply failed for this reason. */
export function leftOutAfter(failure: string | null): "images" | "message" | null {
  const { reason } = readFailure(failure ?? "")
  if (reason === "image-unreadable" || reason === "images-not-supported") return "images"
  return MESSAGE_REFUSED.some((one) => one === reason) ? "message" : null
}
