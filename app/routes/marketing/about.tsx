import { PageHead } from "#app/features/site/page-head.tsx"
import { originOf, pageMeta } from "#app/features/site/page-meta.ts"
import { LinkButton } from "#app/ui/button.tsx"
import type { Route } from "./+types/about.ts"

export const meta: Route.MetaFunction = ({ matches }) =>
  pageMeta(matches, {
    title: "About",
    description:
      "Why Tideline exists: the comfort of hosted realtime services, on a machine and in a database that belong to you.",
    path: "/about",
    structuredData: [{ "@type": "Organization", name: "The Tideline project", url: `${originOf(matches)}/` }],
  })

export default function About() {
  return (
    <div className="mx-auto max-w-6xl px-5 pb-24 sm:px-8">
      <PageHead title="The level is the same for everybody">
        A tideline is where the water stands right now. You can see it from every boat in the harbour, and
        nobody has to announce it.
      </PageHead>
      <div className="grid gap-12 lg:grid-cols-[1fr_20rem] lg:gap-20">
        <div className="prose max-w-2xl text-[1.0625rem]">
          <h2>Why it exists</h2>
          <p>
            The best developer tools of the last years made a promise: the screen shows what the database
            holds, and you do not have to think about it. The price was that the database, the accounts and
            the server that keeps the promise belong to somebody else. For many projects that is a fine trade.
            For some it is not: records that may not leave the building, a budget that cannot grow with usage,
            or simply the wish to understand the whole thing.
          </p>
          <p>
            Tideline is the attempt to keep the promise on one machine that is yours, with parts that have
            been dull and dependable for decades: a process, a PostgreSQL, a folder.
          </p>
          <h2>What we hold on to</h2>
          <ul>
            <li>
              <strong>One truth.</strong> A row is the record, its commit is the announcement, and a shape is
              written down once.
            </li>
            <li>
              <strong>Defaults that are real.</strong> What you try on your laptop is the code that runs in
              production.
            </li>
            <li>
              <strong>Failures that speak.</strong> A missing setting never looks like success, and an error
              says what to do.
            </li>
            <li>
              <strong>A way out.</strong> Your data is in PostgreSQL and in files. Leaving needs no export
              button.
            </li>
            <li>
              <strong>Code for readers.</strong> Folders say where code runs, rules about imports are checked
              by a tool, and decisions are written down with the alternatives that were weighed.
            </li>
          </ul>
          <h2>What it is not</h2>
          <p>
            It is not a framework and not a platform. It is an application, to be used as it is or taken
            apart. Live queries are index ranges, not arbitrary functions. It runs on one machine first, and
            on several when you need them; it does not try to be a global edge network.
          </p>
        </div>
        <aside className="grid content-start gap-5 text-sm">
          <h2 className="text-base font-semibold">Made with</h2>
          <dl className="divide-y divide-line border-y border-line">
            {parts.map(([name, role]) => (
              <div key={name} className="flex justify-between gap-4 py-2.5">
                <dt className="font-medium">{name}</dt>
                <dd className="text-right text-muted">{role}</dd>
              </div>
            ))}
          </dl>
          <LinkButton to="/docs/architecture" variant="secondary">
            Read the architecture
          </LinkButton>
        </aside>
      </div>
    </div>
  )
}

const parts = [
  ["PostgreSQL", "records and their log"],
  ["Node", "one process"],
  ["TypeScript", "all of the source"],
  ["React Router", "pages from the server"],
  ["Drizzle", "schema and queries"],
  ["better-auth or Clerk", "accounts"],
  ["AI SDK", "the chat's streams"],
  ["socket.io", "the way to the browser"],
  ["valibot", "what comes in"],
  ["Geist", "the typeface"],
] as const
