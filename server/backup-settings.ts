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

/** Which backups remain: the newest so many, or the newest of each of the last so many periods. */
export type Keep = { newest: number } | { days: number; weeks: number; months: number }

/** Such as `14`, or `7d 4w 12m`. */
export const KeepText = v.pipe(
  v.string(),
  v.regex(
    /^\s*(?:[1-9]\d{0,5}|[1-9]\d{0,3}[dwm](?:\s+[1-9]\d{0,3}[dwm])*)\s*$/,
    "must be how many backups are kept, such as 14, or for how many days, weeks and months: 7d 4w 12m.",
  ),
  v.transform(readKeep),
)

function readKeep(text: string): Keep {
  if (/^\s*\d+\s*$/.test(text)) return { newest: Number(text) }
  const of = (unit: string) => Number(new RegExp(`(\\d+)${unit}`).exec(text)?.[1] ?? 0)
  return { days: of("d"), weeks: of("w"), months: of("m") }
}
