import { msg, plural } from "@lingui/core/macro"
import { Plural, Trans, useLingui } from "@lingui/react/macro"
import { href } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { i18nOf } from "#app/language/i18n.ts"
import { buttonClass } from "#app/ui/button.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import { refuseForms, requireOperatorScope } from "#server/http/operator-scope.ts"
import { findLiveActivity, type LiveActivity } from "#server/operator/live-activity.ts"
import { Figure, Figures, Part } from "./figures.tsx"
import { Head, Row, Rows } from "./rows.tsx"
import type { Route } from "./+types/live.ts"

export const meta: Route.MetaFunction = ({ matches }) => [
  { title: i18nOf(matches)._(msg`Live records · Administration · Tideline`) },
]

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  return { activity: await findLiveActivity(scope), now: Date.now() }
}

export const action = refuseForms

export default function LiveRecords({ loaderData: { activity, now } }: Route.ComponentProps) {
  const { t } = useLingui()
  const { number } = useFormats()
  const { processes, silent, connections, people, queries, slowest, resets } = activity
  const subscriptions = queries.reduce((sum, query) => sum + query.subscriptions, 0)
  return (
    <>
      <Head title={t`Live records`}>
        <Plural
          value={processes}
          one="What the running process serves now and has served in the last hour. It shows which queries, and never for whom or with which rows."
          other="What all # running processes serve now and have served in the last hour. It shows which queries, and never for whom or with which rows."
        />
      </Head>
      <Figures>
        <Figure label={t`Live connections`} value={connections} />
        <Figure label={t`People connected`} value={people} />
        <Figure label={t`Subscriptions`} value={subscriptions} />
        <Figure label={t`Resets in the last hour`} value={sumOf(resets)} />
      </Figures>
      {silent.length > 0 ? (
        <p role="status" className="mt-5 text-sm text-danger-ink">
          <Plural
            value={silent.length}
            one="# process did not report within a second. Its figures are missing."
            other="# processes did not report within a second. Their figures are missing."
          />
        </p>
      ) : null}

      <Part title={t`Queries`}>
        <QueryTable queries={queries} />
      </Part>

      <Part title={t`Slowest reads of the last hour`}>
        <Rows empty={t`Nothing was read.`}>
          {slowest.map(({ query, ms, rows, at }) => {
            const time = number(tenths(ms))
            const count = t`${plural(rows, { one: "# row", other: "# rows" })}`
            return (
              <Row
                key={`${query} ${at}`}
                title={<code>{query}</code>}
                about={
                  <Trans>
                    {count} in {time} ms, <RelativeTime at={at} now={now} />
                  </Trans>
                }
              />
            )
          })}
        </Rows>
      </Part>

      <Part title={t`Resets of the last hour`}>
        <p className="mt-1 max-w-2xl text-sm text-muted">
          <Trans>A subscription that is reset reads its rows again. Pages do so by themselves.</Trans>
        </p>
        <ResetList resets={resets} />
      </Part>
      <p className="mt-8">
        <a href={href("/admin/live")} className={buttonClass({ variant: "secondary" })}>
          <Trans>Refresh</Trans>
        </a>
      </p>
    </>
  )
}

function QueryTable({ queries }: Pick<LiveActivity, "queries">) {
  const { t } = useLingui()
  const { number } = useFormats()
  const columns: { label: string; valueOf: (query: LiveActivity["queries"][number]) => number | null }[] = [
    { label: t`Subscriptions now`, valueOf: (query) => query.subscriptions },
    { label: t`Started`, valueOf: (query) => query.read },
    { label: t`Continued`, valueOf: (query) => query.resumed },
    { label: t`Refused`, valueOf: (query) => query.refused },
    { label: t`Reads`, valueOf: (query) => query.reads },
    {
      label: t`Average (ms)`,
      valueOf: ({ reads, readMs }) => (reads === 0 ? null : tenths(readMs / reads)),
    },
    { label: t`Rows`, valueOf: (query) => query.rows },
    { label: t`Changes sent`, valueOf: (query) => query.changes },
    { label: t`Resets`, valueOf: (query) => query.resets },
  ]
  if (queries.length === 0) return <Rows empty={t`No query has been used.`}>{[]}</Rows>
  return (
    <div
      role="group"
      aria-label={t`Queries`}
      tabIndex={0}
      className="mt-5 overflow-x-auto rounded-lg border border-line bg-surface shadow-sm"
    >
      <table className="w-full border-collapse text-sm tabular-nums">
        <thead className="text-muted">
          <tr className="border-b border-line align-bottom">
            <th scope="col" className="px-3 py-2.5 text-left font-medium">{t`Query`}</th>
            {columns.map(({ label }) => (
              <th key={label} scope="col" className="px-3 py-2.5 text-right font-medium">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {queries.map((query) => (
            <tr key={query.query}>
              <th scope="row" className="px-3 py-2.5 text-left font-medium whitespace-nowrap">
                <code>{query.query}</code>
              </th>
              {columns.map(({ label, valueOf }) => {
                const value = valueOf(query)
                return (
                  <td key={label} className="px-3 py-2.5 text-right">
                    {value === null ? "–" : number(value)}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ResetList({ resets }: Pick<LiveActivity, "resets">) {
  const { t } = useLingui()
  const { number } = useFormats()
  const reasons: { reason: keyof typeof resets; text: string }[] = [
    { reason: "slow", text: t`The client read too slowly to receive each change.` },
    { reason: "gap", text: t`The process lost its place in PostgreSQL's log.` },
    { reason: "large", text: t`One transaction changed more rows than are sent one by one.` },
    { reason: "truncate", text: t`A table was truncated.` },
    { reason: "schema", text: t`A table's columns or its publication changed.` },
  ]
  return (
    <dl className="mt-5 divide-y divide-line rounded-lg border border-line bg-surface text-sm shadow-sm">
      {reasons.map(({ reason, text }) => (
        <div key={reason} className="flex items-baseline gap-4 px-4 py-3 sm:px-5">
          <dt className="min-w-0 flex-1">
            <code className="font-medium">{reason}</code> <span className="text-muted">{text}</span>
          </dt>
          <dd className="font-medium tabular-nums">{number(resets[reason])}</dd>
        </div>
      ))}
    </dl>
  )
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** Rounded to a tenth. */
function tenths(value: number): number {
  return Math.round(value * 10) / 10
}
