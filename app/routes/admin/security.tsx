import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { EventDetails, useEventName } from "#app/features/identity/security-event.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { listSecurityEvents } from "#server/accounts/security-log.ts"
import { refuseForms, requireOperatorScope } from "#server/http/operator-scope.ts"
import { AddressSearch } from "./address-search.tsx"
import { pageOf } from "./page-of.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/security.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Security log · Administration · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const page = await pageOf(url, (place) => listSecurityEvents(scope, place))
  return { ...page, now: Date.now(), days: scope.config.securityLogDays, provider: scope.identity.kind }
}

/**
 * There is no form here. Without this action, React Router's own error would reveal the page to
 * users who may not see it.
 */
export const action = refuseForms

export default function SecurityLog({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const nameOf = useEventName()
  const { rows, older, q, now, days, provider } = loaderData
  const empty =
    provider === "clerk"
      ? t`Clerk keeps this log: open Clerk's dashboard.`
      : t`Nothing has been recorded yet.`
  return (
    <>
      <Head title={t`Security log`}>
        <Trans>
          What happened to the security of all accounts in the last {days} days, newest first. Entries are
          never changed; those of a deleted account go with it.
        </Trans>
      </Head>
      <AddressSearch q={q} all={href("/admin/security")} />
      <Rows empty={q ? t`No entry is about an email address that contains “${q}”.` : empty}>
        {rows.map((entry) => (
          <Row
            key={entry._id}
            title={`${entry.email}: ${nameOf(entry)}`}
            about={
              <>
                <EventDetails entry={entry} now={now} />
                {entry.operatorEmail ? ` · ${entry.operatorEmail}` : null}
              </>
            }
          />
        ))}
      </Rows>
      <Older before={older} query={q ? { q } : {}} />
    </>
  )
}
