import type { I18n } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { i18nOf } from "#app/language/i18n.ts"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { refuseForms, requireOperatorScope } from "#server/http/operator-scope.ts"
import type { OperatorChange } from "#server/operator/contract.ts"
import { listActs } from "#server/operator/history.ts"
import { describeChange } from "./describe-act.ts"
import { pageOf } from "./page-of.ts"
import { Head, Older, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/history.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`History · Administration · Tideline`) },
]

export async function loader({ context, url }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  const page = await pageOf(url, (place) => listActs(scope, place))
  return { ...page, now: Date.now() }
}

/**
 * There is no form here. Without this action, React Router's own error would reveal the page to
 * users who may not see it.
 */
export const action = refuseForms

export default function History({ loaderData: { rows, older, now } }: Route.ComponentProps) {
  const { t, i18n } = useLingui()
  return (
    <>
      <Head title={t`History`}>
        <Trans>
          Every change made on these pages, and of plans on the server, newest first. Entries are never
          changed, except that people who delete their account are removed from them.
        </Trans>
      </Head>
      <Rows empty={t`Nothing has been changed on these pages yet.`}>
        {rows.map((act) => (
          <Row
            key={act._id}
            title={sentenceOf(act, i18n)}
            about={<When at={act._creationTime} now={now} />}
          />
        ))}
      </Rows>
      <Older before={older} />
    </>
  )
}

function sentenceOf(act: OperatorChange, i18n: I18n): string {
  const unnamed = act.facts?.onServer
    ? msg`The server's own command`
    : msg`Somebody whose account was deleted`
  const who = act.operatorEmail ?? i18n._(unnamed)
  const did = describeChange(act, i18n)
  return i18n._(msg`${who} ${did}`)
}

function When({ at, now }: { at: number; now: number }) {
  const moment = new Date(at).toISOString().slice(0, 19).replace("T", " ")
  return (
    <Trans>
      <RelativeTime at={at} now={now} />, at {moment} UTC
    </Trans>
  )
}
