/** What differs from the hosted services, also where they are ahead. */
export function Comparison() {
  return (
    <>
      <div
        role="table"
        aria-label="Tideline beside Next.js, Convex and Clerk"
        className="overflow-hidden rounded-xl border border-line bg-surface"
      >
        <div
          role="row"
          className="hidden border-b border-line bg-canvas text-sm font-medium md:grid md:grid-cols-[13rem_1fr_1fr]"
        >
          <span role="columnheader" className="px-6 py-3.5 text-muted">
            Question
          </span>
          <span role="columnheader" className="px-6 py-3.5 text-accent-ink">
            Tideline
          </span>
          <span role="columnheader" className="px-6 py-3.5 text-muted">
            Next.js + Convex + Clerk, hosted
          </span>
        </div>
        {rows.map(({ question, here, there }) => (
          <div
            key={question}
            role="row"
            className="grid gap-3 border-b border-line px-5 py-5 last:border-b-0 md:grid-cols-[13rem_1fr_1fr] md:gap-0 md:px-0 md:py-4"
          >
            <span role="rowheader" className="font-medium md:px-6">
              {question}
            </span>
            <span role="cell" className="md:px-6">
              <span aria-hidden="true" className="block text-xs text-accent-ink md:hidden">
                Tideline
              </span>
              {here}
            </span>
            <span role="cell" className="text-muted md:px-6">
              <span aria-hidden="true" className="block text-xs text-faint md:hidden">
                Next.js + Convex + Clerk
              </span>
              {there}
            </span>
          </div>
        ))}
      </div>
      <p className="mt-6 max-w-3xl text-muted">
        Choose the hosted services when nobody on your side wants to look after a database, when you need live
        queries of any shape, or when you need the many sign-in methods and the support that Clerk sells.
        Choose Tideline when the records have to stay on your machines, in a database that you can open.
      </p>
    </>
  )
}

const rows: { question: string; here: string; there: string }[] = [
  {
    question: "What do you run?",
    here: "One Node process and one PostgreSQL. More processes when you need them.",
    there: "Nothing. Three companies run it for you, and that is worth a lot.",
  },
  {
    question: "Accounts before the first start",
    here: "None.",
    there: "A host, Convex and Clerk.",
  },
  {
    question: "Where are the records?",
    here: "In your PostgreSQL. Any SQL tool can read and write them.",
    there: "In Convex's database, reached through its functions and its dashboard.",
  },
  {
    question: "What makes a screen live?",
    here: "The write-ahead log. Any committed write is seen, whoever made it.",
    there: "Convex tracks what a query function read, and runs it again when that changes.",
  },
  {
    question: "What can be live?",
    here: "An index range of one table. More is put together in the browser.",
    there: "Any query function over the database. Convex is ahead here.",
  },
  {
    question: "Sign-in",
    here: "E-mail and password, API keys, plans set by you. Or Clerk.",
    there: "Clerk: many sign-in methods, organisations, finished screens. Clerk is ahead here.",
  },
  {
    question: "Backups, upgrades, night duty",
    here: "Yours.",
    there: "Theirs.",
  },
  {
    question: "What does it cost?",
    here: "The machine it runs on.",
    there: "Free to begin with, then by usage.",
  },
]
