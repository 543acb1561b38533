import type { I18n } from "@lingui/core"
import { msg, plural } from "@lingui/core/macro"
import type { OperatorAct } from "#server/operator/contract.ts"
import { isKind, KIND_NAMES } from "./email-kinds.ts"

/** What an operator did, as a sentence without its subject: `changed the plan of ada@example.org from free to pro`. */
export function describeAct({ act, subjectEmail, detail }: OperatorAct, i18n: I18n): string {
  const whom = subjectEmail ?? i18n._(msg`somebody whose account was deleted`)
  const what = describeDetail(detail ?? "", i18n)
  switch (act) {
    case "change-plan":
      return i18n._(msg`changed the plan of ${whom} ${what}`)
    case "sign-out":
      return i18n._(msg`signed ${whom} out everywhere`)
    case "invite":
      return i18n._(msg`invited ${whom}`)
    case "retry-letter":
      return subjectEmail === null && detail?.endsWith("parked")
        ? i18n._(msg`resent emails: ${what}`)
        : i18n._(msg`resent an email to ${whom} (${what})`)
    case "drop-letter":
      return i18n._(msg`discarded an email to ${whom} (${what})`)
    case "stop-answer":
      return i18n._(msg`stopped a reply to ${whom}`)
  }
}

/** It was written down in English: the plans, how many emails, or the kind of email. */
function describeDetail(detail: string, i18n: I18n): string {
  const [, previous, plan] = /^from (\w+) to (\w+)$/.exec(detail) ?? []
  if (previous && plan) return i18n._(msg`from ${previous} to ${plan}`)
  const count = Number(/^(\d+) that (?:was|were) parked$/.exec(detail)?.[1])
  if (count) return i18n._(msg`${plural(count, { one: "# that was parked", other: "# that were parked" })}`)
  return isKind(detail) ? i18n._(KIND_NAMES[detail]) : detail
}
