import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { Code } from "#app/features/site/code.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"

/** The path of a change from the code that makes it to the screens that show it. */
export function HowItWorks() {
  const { t } = useLingui()
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2 lg:gap-10">
      <div className="overflow-hidden rounded-xl border border-line bg-surface shadow-sm">
        <p className="border-b border-line bg-sunken px-5 py-2.5 font-mono text-xs text-muted">
          server/files/files.ts, <Trans>shortened</Trans>
        </p>
        <pre
          data-quote="server/files/files.ts"
          tabIndex={0}
          className="overflow-x-auto p-5 font-mono text-[0.8125rem] leading-6"
        >
          <Code source={RENAME} />
        </pre>
      </div>
      <ol className="grid content-between gap-6">
        {steps.map(({ icon, title, text }, place) => (
          <li key={icon} className="relative flex gap-4">
            {place < steps.length - 1 ? (
              <span
                aria-hidden="true"
                className="absolute top-11 -bottom-6 left-[1.1875rem] w-px bg-line-strong"
              />
            ) : null}
            <span className="grid size-10 shrink-0 place-items-center rounded-full border border-accent-line bg-accent-soft text-accent-ink">
              <Icon name={icon} />
            </span>
            <div className="pt-1.5">
              <h3 className="font-semibold">{t(title)}</h3>
              <p className="mt-1 text-muted">{t(text)}</p>
            </div>
          </li>
        ))}
      </ol>
    </div>
  )
}

const RENAME = `export async function renameFile(
  scope: Scope<"db" | "viewer">,
  id: string,
  { fileName }: RenameFile,
): Promise<FileSummary> {
  const name = cleanFileName(fileName)
  …
        .update(files)
        .set({ fileName: name })
        .where(and(editableFiles({ ...scope, db: tx }), here))
        .returning(summary),
  …
  return summaryOf(renamed)
}

// Nothing is published. The commit is enough.`

const steps: { icon: IconName; title: MessageDescriptor; text: MessageDescriptor }[] = [
  {
    icon: "edit",
    title: msg`Something writes a row`,
    text: msg`A form, the API, another instance, a migration, or a person in psql. It makes no difference which.`,
  },
  {
    icon: "database",
    title: msg`PostgreSQL commits it to its log`,
    text: msg`Replicas follow the same write-ahead log. It delivers committed transactions only, complete and in order.`,
  },
  {
    icon: "server",
    title: msg`Every process reads the log`,
    text: msg`Each one knows which index ranges its sockets subscribed to. There is no message broker in between.`,
  },
  {
    icon: "monitor",
    title: msg`Every screen that shows it changes`,
    text: msg`A browser that was offline sends the last position it saw, and receives what came after it or a fresh snapshot.`,
  },
]
