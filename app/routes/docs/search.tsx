import { Trans, useLingui } from "@lingui/react/macro"
import type { MessageDescriptor } from "@lingui/core"
import { msg, plural } from "@lingui/core/macro"
import { href, Link } from "react-router"
import { pageMeta } from "#app/features/site/page-meta.ts"
import { listDocs } from "#server/docs/pages.ts"
import { MOST_FINDINGS, searchDocs } from "#server/docs/search.ts"
import type { Route } from "./+types/search.ts"
import { DocsFrame } from "./frame.tsx"

export function loader({ request }: Route.LoaderArgs) {
  const question = (new URL(request.url).searchParams.get("q") ?? "").trim().slice(0, 200)
  const findings = searchDocs(question)
  return { question, findings, isCut: findings.length === MOST_FINDINGS, groups: listDocs() }
}

/** Search results are not for search engines. */
export const meta: Route.MetaFunction = ({ matches }) => [
  ...pageMeta(matches, {
    title: msg`Search the documentation`,
    description: msg`Search Tideline's documentation.`,
    path: href("/docs/search"),
  }),
  { name: "robots", content: "noindex, follow" },
]

export default function DocsSearch({ loaderData }: Route.ComponentProps) {
  const { t } = useLingui()
  const { question, findings, isCut, groups } = loaderData
  return (
    <DocsFrame groups={groups} title={t`Search`} question={question}>
      <h1 className="text-3xl font-semibold">
        <Trans>Search</Trans>
      </h1>
      <p className="mt-3 text-muted" role="status">
        {t(summaryOf(question, findings.length, isCut))}
      </p>
      <ol lang="en" className="mt-8 grid max-w-2xl gap-3">
        {findings.map(({ page, title, address, excerpt }) => (
          <li
            key={address}
            className="relative rounded-lg border border-line bg-surface p-5 transition-colors hover:border-line-strong"
          >
            <p className="text-sm text-faint">{page}</p>
            <h2 className="mt-0.5 font-semibold">
              <Link to={address} className="after:absolute after:inset-0">
                {title}
              </Link>
            </h2>
            <p className="mt-1.5 text-sm wrap-anywhere text-muted">
              {excerpt.map(({ text, isFound }, at) =>
                isFound ? (
                  // oxlint-disable-next-line react/no-array-index-key -- the parts of one text, which never move
                  <mark key={at} className="rounded-sm bg-warning-soft px-0.5 text-warning-ink">
                    {text}
                  </mark>
                ) : (
                  text
                ),
              )}
            </p>
          </li>
        ))}
      </ol>
    </DocsFrame>
  )
}

function summaryOf(question: string, count: number, isCut: boolean): MessageDescriptor {
  if (question === "") return msg`Type a word or two, for example the name of a setting.`
  if (isCut) return msg`The best ${count} of the sections that contain “${question}”.`
  return msg`${plural(count, {
    0: `No section contains all of “${question}”. Try fewer words, or just the beginning of one.`,
    1: `One section contains “${question}”.`,
    other: `# sections contain “${question}”.`,
  })}`
}
