import { bech32 } from "@scure/base"
import * as v from "valibot"

/** Recipients of age, separated by commas. */
export const RecipientsText = v.pipe(
  v.string(),
  v.transform((text) =>
    text
      .split(",")
      .map((recipient) => recipient.trim())
      .filter(Boolean),
  ),
  v.check(
    (recipients) => recipients.every(isRecipient),
    "must be recipients of age, which begin with age1, separated by commas. npm run backup-key makes one.",
  ),
)

/** The library itself checks the same, but takes too long to load for every start. */
function isRecipient(text: string): boolean {
  if (!/^age1[0-9a-z]+$/.test(text)) return false
  return bech32.decodeUnsafe(text, 10_000) !== undefined
}
