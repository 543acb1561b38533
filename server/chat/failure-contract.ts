/**
 * Why a reply failed, by its reason. The stream of a reply, and the stored reply, hold the sentence:
 * the protocol of the `ai` package has only a text for errors.
 */
export const failureTexts = {
  "conversation-unread": "The conversation couldn't be loaded. Try again.",
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
