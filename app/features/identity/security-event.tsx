import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useDeviceName } from "./use-device-name.ts"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { SecurityEntry } from "#server/accounts/security-contract.ts"
import { describeDevice } from "#live/contract"

/** Returns what happened, without who did it. */
export function useEventName(): (entry: SecurityEntry) => string {
  const { i18n } = useLingui()
  return ({ event, way, facts, byOperator }) => {
    const isByAnother = byOperator || facts?.issuer !== undefined
    const name = event === "sessions-ended" && isByAnother ? msg`Signed out everywhere` : NAMES[event]
    const said = i18n._(way ? nameOfSignIn(event, way) : (name ?? msg`Another change`))
    const about = facts?.next ?? facts?.name
    return about ? `${said}: ${about}` : said
  }
}

/** When it happened, and from where. */
export function EventDetails({ entry, now }: { entry: SecurityEntry; now: number }) {
  const { t } = useLingui()
  const nameOf = useDeviceName()
  const { _creationTime: at, address, userAgent, facts, byOperator } = entry
  const moment = new Date(at).toISOString().slice(0, 19).replace("T", " ")
  const more = [
    facts?.newBrowser ? t`new browser` : null,
    userAgent ? nameOf(describeDevice(userAgent)) : null,
    address,
    facts?.issuer ?? null,
    facts?.previous ? t`before: ${facts.previous}` : null,
    byOperator ? t`by an administrator` : null,
  ].filter((part) => part !== null)
  return (
    <>
      <Trans>
        <RelativeTime at={at} now={now} />, at {moment} UTC
      </Trans>
      {more.map((part) => ` · ${part}`).join("")}
    </>
  )
}

type Event = SecurityEntry["event"]

function nameOfSignIn(event: Event, way: NonNullable<SecurityEntry["way"]>): MessageDescriptor {
  return (event === "sign-in-failed" ? FAILED : SIGNED_IN)[way] ?? msg`Signed in`
}

const SIGNED_IN: Record<NonNullable<SecurityEntry["way"]>, MessageDescriptor> = {
  password: msg`Signed in with the password`,
  code: msg`Signed in with a code`,
  "recovery-code": msg`Signed in with a recovery code`,
  passkey: msg`Signed in with a passkey`,
  provider: msg`Signed in by single sign-on`,
  "email-link": msg`Signed in with a link from an email`,
}

const FAILED: Partial<Record<NonNullable<SecurityEntry["way"]>, MessageDescriptor>> = {
  password: msg`Sign-in failed: wrong password`,
  code: msg`Sign-in failed: wrong code`,
  "recovery-code": msg`Sign-in failed: wrong recovery code`,
  passkey: msg`Sign-in failed: wrong passkey`,
}

/**
 * Partial, because a process of a later version may have recorded an event that is not listed here.
 */
const NAMES: Partial<Record<Event, MessageDescriptor>> = {
  "account-created": msg`Account created`,
  "signed-in": msg`Signed in`,
  "sign-in-failed": msg`Sign-in failed`,
  "session-ended": msg`A browser was signed out`,
  "sessions-ended": msg`All other browsers were signed out`,
  "password-changed": msg`Password changed`,
  "password-reset": msg`New password chosen with a link`,
  "password-link-created": msg`Password link created`,
  "address-change-requested": msg`Change of email address requested`,
  "address-change-stopped": msg`Change of email address stopped`,
  "address-changed": msg`Email address changed`,
  "key-created": msg`API key created`,
  "key-deleted": msg`API key deleted`,
  "second-factor-added": msg`Two-factor authentication turned on`,
  "second-factor-removed": msg`Two-factor authentication turned off`,
  "recovery-codes-renewed": msg`New recovery codes created`,
  "passkey-added": msg`Passkey added`,
  "passkey-removed": msg`Passkey removed`,
  "provider-linked": msg`Account linked to single sign-on`,
  "plan-changed": msg`Plan changed`,
  suspended: msg`Account suspended`,
  allowed: msg`Suspension lifted`,
}
