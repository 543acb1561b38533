import * as v from "valibot"
import { record } from "#server/operations/contract.ts"
import { reason } from "#server/reason-contract.ts"
import { secret } from "#server/text-contract.ts"

export const LinkId = v.pipe(v.string(), v.uuid())

/** The fields of every link as its owner sees it. Its URL is shown once, when it is created. */
export const linkRow = {
  ...record,
  hint: v.pipe(v.string(), v.description("The last four characters of the link's URL.")),
  expiresAt: v.pipe(
    v.nullable(v.pipe(v.number(), v.integer())),
    v.description("Milliseconds since the epoch; null for a link that does not expire."),
  ),
  hasPassword: v.boolean(),
}
export type LinkRow = v.InferOutput<v.StrictObjectSchema<typeof linkRow, undefined>>

/** The same of a row. */
export function linkRowOf({
  _id,
  _creationTime,
  hint,
  expiresAt,
  passwordHash,
}: Omit<LinkRow, "hasPassword"> & { passwordHash: string | null }): LinkRow {
  return { _id, _creationTime, hint, expiresAt, hasPassword: passwordHash !== null }
}

/** The response to the person who creates a link. */
export interface NewLink<Row> {
  share: Row
  /** The whole URL. It is not stored anywhere. */
  url: string
}

export const LINK_PASSWORD_LIMIT = 200

/** Milliseconds. */
const LONGEST = 10 * 365 * 24 * 60 * 60 * 1000

const PASSWORD_LENGTH = reason("link-password-unfit", { most: LINK_PASSWORD_LIMIT })

/** The limits of any link. A missing or null value is no limit. */
export const linkLimits = {
  /** Milliseconds since the epoch. */
  expiresAt: v.nullish(
    v.pipe(
      v.number(reason("link-end-unfit")),
      v.integer(reason("link-end-unfit")),
      v.check((moment) => moment > Date.now(), reason("link-end-past")),
      v.check((moment) => moment <= Date.now() + LONGEST, reason("link-end-too-late")),
    ),
  ),
  password: v.nullish(
    v.pipe(
      v.string(PASSWORD_LENGTH),
      v.nonEmpty(PASSWORD_LENGTH),
      v.maxLength(LINK_PASSWORD_LIMIT, PASSWORD_LENGTH),
      secret,
    ),
  ),
}

export type LinkLimits = v.InferOutput<v.StrictObjectSchema<typeof linkLimits, undefined>>

/** The form with which a visitor shows that they know a link's password. */
export const UnlockLink = v.object({
  password: v.pipe(
    v.string(reason("link-password-missing")),
    v.nonEmpty(reason("link-password-missing")),
    v.maxLength(1000, reason("link-password-wrong")),
    secret,
  ),
})
