import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"

/** What differs from the hosted services, including where they are ahead. */
export function Comparison() {
  const { t } = useLingui()
  return (
    <>
      <div
        role="table"
        aria-label={t`Tideline beside Next.js, Convex and Clerk`}
        className="overflow-hidden rounded-xl border border-line bg-surface"
      >
        <div
          role="row"
          className="hidden border-b border-line bg-canvas text-sm font-medium md:grid md:grid-cols-[13rem_1fr_1fr]"
        >
          <span role="columnheader" className="px-6 py-3.5 text-muted">
            <Trans>Question</Trans>
          </span>
          <span role="columnheader" className="px-6 py-3.5 text-accent-ink">
            Tideline
          </span>
          <span role="columnheader" className="px-6 py-3.5 text-muted">
            <Trans>Next.js + Convex + Clerk, hosted</Trans>
          </span>
        </div>
        {rows.map(({ id, question, here, there }) => (
          <div
            key={id}
            role="row"
            className="grid gap-3 border-b border-line px-5 py-5 last:border-b-0 md:grid-cols-[13rem_1fr_1fr] md:gap-0 md:px-0 md:py-4"
          >
            <span role="rowheader" className="font-medium md:px-6">
              {t(question)}
            </span>
            <span role="cell" className="md:px-6">
              <span aria-hidden="true" className="block text-xs text-accent-ink md:hidden">
                Tideline
              </span>
              {t(here)}
            </span>
            <span role="cell" className="text-muted md:px-6">
              <span aria-hidden="true" className="block text-xs text-faint md:hidden">
                Next.js + Convex + Clerk
              </span>
              {t(there)}
            </span>
          </div>
        ))}
      </div>
      <p className="mt-6 max-w-3xl text-muted">
        <Trans>
          Choose the hosted services if nobody on your team wants to run a database, if you need arbitrary
          live queries, or if you need the many sign-in methods and the support that Clerk offers. Choose
          Tideline if your records have to stay on your own machines, in a database you can open.
        </Trans>
      </p>
    </>
  )
}

const rows: { id: string; question: MessageDescriptor; here: MessageDescriptor; there: MessageDescriptor }[] =
  [
    {
      id: "run",
      question: msg`What do you run?`,
      here: msg`One Node process and one PostgreSQL. Add processes when you need them.`,
      there: msg`Nothing. Three companies run it for you, which is worth a lot.`,
    },
    {
      id: "accounts",
      question: msg`Accounts needed to start`,
      here: msg`None.`,
      there: msg`A host, Convex and Clerk.`,
    },
    {
      id: "records",
      question: msg`Where is the data?`,
      here: msg`In your PostgreSQL. Any SQL tool can read and write them.`,
      there: msg`In Convex's database, accessed through its functions and dashboard.`,
    },
    {
      id: "cause",
      question: msg`What makes a screen live?`,
      here: msg`The write-ahead log. Every committed write shows up, whatever made it.`,
      there: msg`Convex tracks what a query function reads and reruns it when that changes.`,
    },
    {
      id: "reach",
      question: msg`What can be live?`,
      here: msg`An index range of one table. Anything more is combined in the browser.`,
      there: msg`Any query function over the database. Convex is ahead here.`,
    },
    {
      id: "sign-in",
      question: msg`Sign-in`,
      here: msg`Passkeys, passwords, two-factor authentication, single sign-on, API keys. Or Clerk.`,
      there: msg`Clerk: more sign-in methods, and ready-made screens for all of them.`,
    },
    {
      id: "team",
      question: msg`Working together`,
      here: msg`Spaces with roles, invitations, mentions and notifications.`,
      there: msg`Clerk has organisations. You build what happens in them.`,
    },
    {
      id: "duty",
      question: msg`Backups, upgrades, on-call`,
      here: msg`Yours.`,
      there: msg`Theirs.`,
    },
    {
      id: "cost",
      question: msg`What does it cost?`,
      here: msg`The machine it runs on.`,
      there: msg`Free to start, then by usage.`,
    },
  ]
