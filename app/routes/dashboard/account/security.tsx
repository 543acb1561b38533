import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import * as v from "valibot"
import { EventDetails, useEventName } from "#app/features/identity/security-event.tsx"
import { i18nOf } from "#app/language/i18n.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { ListPlace } from "#server/accounts/contract.ts"
import { listOwnSecurityEvents } from "#server/accounts/security-log.ts"
import { requireScope } from "#server/http/scope.ts"
import { Page, PageHead } from "#app/ui/page.tsx"
import type { Route } from "./+types/security.ts"

/** Entries on a page. */
const LIMIT = 50

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Security log · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const { before } = v.parse(ListPlace, Object.fromEntries(url.searchParams))
  const found = await listOwnSecurityEvents(scope, { before, limit: LIMIT + 1 })
  const entries = found.slice(0, LIMIT)
  return {
    now: Date.now(),
    entries,
    older: found.length > LIMIT ? (entries.at(-1)?._id ?? null) : null,
    isFirstPage: before === undefined,
    days: scope.config.securityLogDays,
  }
}

export default function SecurityLog({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const nameOf = useEventName()
  const { now, entries, older, isFirstPage, days } = loaderData
  return (
    <Page narrow>
      <PageHead title={t`Security log`} above={[{ to: href("/dashboard/account"), label: t`Account` }]} />
      <p className="mt-3 max-w-2xl text-sm text-muted">
        <Trans>
          What happened to the security of your account in the last {days} days, newest first. If you don't
          recognise something, change your password and sign out all other browsers.
        </Trans>
      </p>
      {entries.length === 0 ? (
        <p className="mt-5 rounded-lg border border-line bg-surface p-5 text-sm text-muted">
          {isFirstPage ? t`Nothing has been recorded yet.` : t`There are no older entries.`}
        </p>
      ) : (
        <ul className="mt-5 divide-y divide-line rounded-lg border border-line bg-surface shadow-sm">
          {entries.map((entry) => (
            <li key={entry._id} className="px-4 py-3 sm:px-5">
              <p className="text-sm font-medium wrap-anywhere">{nameOf(entry)}</p>
              <p className="mt-0.5 text-sm text-muted wrap-anywhere">
                <EventDetails entry={entry} now={now} />
              </p>
            </li>
          ))}
        </ul>
      )}
      {older === null ? null : (
        <p className="mt-5">
          <Link to={`?before=${older}`} className={buttonClass({ variant: "secondary" })}>
            <Trans>Older</Trans>
          </Link>
        </p>
      )}
    </Page>
  )
}
