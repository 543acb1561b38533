import * as v from "valibot"
import { reason } from "#server/reason-contract.ts"

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
    ),
  ),
}

/** The form with which a visitor shows that they know a link's password. */
export const UnlockLink = v.object({
  password: v.pipe(
    v.string(reason("link-password-missing")),
    v.nonEmpty(reason("link-password-missing")),
    v.maxLength(1000, reason("link-password-wrong")),
  ),
})
