import { Trans, useLingui } from "@lingui/react/macro"
import { href, Link } from "react-router"
import { classNames } from "#app/ui/class-names.ts"
import { Icon } from "#app/ui/icon.tsx"

/** What a new user has yet to try. Not shown once all of it is done. */
export function Checklist({ hasThread, hasFile }: { hasThread: boolean; hasFile: boolean }) {
  const { t } = useLingui()
  const tasks = [
    { id: "account", label: t`Create your account`, done: true },
    {
      id: "question",
      label: t`Ask the chat your first question`,
      done: hasThread,
      to: href("/dashboard/chat"),
    },
    { id: "file", label: t`Upload your first file`, done: hasFile, to: href("/dashboard/files") },
  ]
  const count = tasks.length
  const done = tasks.filter((task) => task.done).length
  if (done === count) return null
  return (
    <section
      aria-labelledby="checklist"
      className="mt-8 rounded-lg border border-line bg-surface p-5 shadow-sm"
    >
      <div className="flex items-baseline justify-between gap-3">
        <h2 id="checklist" className="font-medium">
          <Trans>Getting started</Trans>
        </h2>
        <p className="text-sm text-muted tabular-nums">
          <Trans>
            {done} of {count}
          </Trans>
        </p>
      </div>
      <ul className="mt-3 grid gap-1 sm:grid-cols-3 sm:gap-3">
        {tasks.map(({ id, ...task }) => (
          <li key={id}>
            <Task {...task} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Task({ label, done, to }: { label: string; done: boolean; to?: string }) {
  const content = (
    <>
      <span
        className={classNames(
          "grid size-5 shrink-0 place-items-center rounded-full border",
          done ? "border-transparent bg-accent text-on-accent" : "border-line-strong",
        )}
      >
        {done ? <Icon name="check" className="size-3" /> : null}
      </span>
      <span className={done ? "text-faint line-through" : undefined}>{label}</span>
      {done ? (
        <span className="sr-only">
          <Trans>, done</Trans>
        </span>
      ) : (
        <Icon name="chevron-right" className="ml-auto text-faint" />
      )}
    </>
  )
  const row = "flex min-h-11 items-center gap-2.5 rounded-md text-sm"
  if (done || !to) return <div className={row}>{content}</div>
  return (
    <Link to={to} className={classNames(row, "-mx-2 px-2 font-medium hover:bg-hover")}>
      {content}
    </Link>
  )
}
