import { Trans, useLingui } from "@lingui/react/macro"
import { msg } from "@lingui/core/macro"
import { href } from "react-router"
import { PageHead } from "#app/features/site/page-head.tsx"
import { originOf, pageMeta } from "#app/features/site/page-meta.ts"
import { LinkButton } from "#app/ui/button.tsx"
import type { Route } from "./+types/about.ts"

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: msg`About`,
    description: msg`Why Tideline exists: the comfort of hosted realtime services, on a machine and in a database that belong to you.`,
    path: href("/about"),
    structuredData: [{ "@type": "Organization", name: "The Tideline project", url: `${originOf(matches)}/` }],
  })

export default function About() {
  const { t } = useLingui()
  return (
    <div className="mx-auto max-w-6xl px-5 pb-24 sm:px-8">
      <PageHead title={t`The level is the same for everybody`}>
        <Trans>
          A tideline is where the water stands right now. You can see it from every boat in the harbour, and
          nobody has to announce it.
        </Trans>
      </PageHead>
      <div className="grid gap-12 lg:grid-cols-[1fr_20rem] lg:gap-20">
        <div className="prose max-w-2xl text-[1.0625rem]">
          <h2>
            <Trans>Why it exists</Trans>
          </h2>
          <p>
            <Trans>
              The best developer tools of recent years made a promise: the screen shows what is in the
              database, and you don't have to think about it. The price was that the database, the accounts
              and the server belong to somebody else. For many projects that is a fine trade. For some it is
              not: records that may not leave the building, a budget that cannot grow with usage, or simply
              the wish to understand the whole thing.
            </Trans>
          </p>
          <p>
            <Trans>
              Tideline keeps that promise on a machine of your own, with parts that have been boring and
              dependable for decades: a process, PostgreSQL, a folder.
            </Trans>
          </p>
          <h2>
            <Trans>Our principles</Trans>
          </h2>
          <ul>
            <li>
              <Trans>
                <strong>One truth.</strong> A row is the record, its commit is the event, and every type is
                defined once.
              </Trans>
            </li>
            <li>
              <Trans>
                <strong>Real defaults.</strong> What you try on your laptop is the code that runs in
                production.
              </Trans>
            </li>
            <li>
              <Trans>
                <strong>Clear errors.</strong> A missing setting never looks like success, and every error
                says what to do.
              </Trans>
            </li>
            <li>
              <Trans>
                <strong>A way out.</strong> Your data is in PostgreSQL and in files. Leaving needs no export
                button.
              </Trans>
            </li>
            <li>
              <Trans>
                <strong>Code for readers.</strong> Folders show where code runs, a tool checks the import
                rules, and decisions are recorded with the alternatives.
              </Trans>
            </li>
          </ul>
          <h2>
            <Trans>What it is not</Trans>
          </h2>
          <p>
            <Trans>
              It is not a framework and not a platform. It is an application, to be used as it is or taken
              apart. Live queries are index ranges, not arbitrary functions. It runs on one machine first, and
              on several when you need them; it does not try to be a global edge network.
            </Trans>
          </p>
        </div>
        <aside className="grid content-start gap-5 text-sm">
          <h2 className="text-base font-semibold">
            <Trans>Built with</Trans>
          </h2>
          <dl className="divide-y divide-line border-y border-line">
            {parts.map(([name, role]) => (
              <div key={role.id} className="flex justify-between gap-4 py-2.5">
                <dt className="font-medium">{typeof name === "string" ? name : t(name)}</dt>
                <dd className="text-right text-muted">{t(role)}</dd>
              </div>
            ))}
          </dl>
          <LinkButton to={href("/docs/:page", { page: "architecture" })} variant="secondary">
            <Trans>Read the architecture</Trans>
          </LinkButton>
        </aside>
      </div>
    </div>
  )
}

const parts = [
  ["PostgreSQL", msg`records and their log`],
  ["Node", msg`one process`],
  ["TypeScript", msg`all of the source`],
  ["React Router", msg`server-rendered pages`],
  ["Drizzle", msg`schema and queries`],
  [msg`better-auth or Clerk`, msg`accounts`],
  ["AI SDK", msg`the chat's streams`],
  ["socket.io", msg`the connection to the browser`],
  ["valibot", msg`input validation`],
  ["Geist", msg`the typeface`],
] as const
