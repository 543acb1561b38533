import { Trans, useLingui } from "@lingui/react/macro"
import type { ReactNode } from "react"
import { Link } from "react-router"
import { useFormats } from "#app/language/formats.ts"
import { LinkButton } from "#app/ui/button.tsx"
import { EmptyState } from "#app/ui/empty-state.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { RelativeTime } from "#app/ui/relative-time.tsx"
import type { ThreadSummary } from "#server/chat/contract.ts"
import { usePlace } from "./use-place.ts"
import type { FileSummary } from "#server/files/contract.ts"

export function LatestThreads({ threads, now }: { threads: readonly ThreadSummary[]; now: number }) {
  const { t } = useLingui()
  const { spaceName, mayEdit, addresses } = usePlace()
  return (
    <Panel id="latest-threads" title={t`Conversations`} all={addresses.chat}>
      {threads.length === 0 ? (
        <EmptyState
          icon="chat"
          title={t`No conversations yet`}
          action={
            mayEdit ? (
              <LinkButton to={addresses.chat} variant="secondary" size="sm">{t`Start one`}</LinkButton>
            ) : undefined
          }
        >
          {spaceName === null
            ? t`Your conversations are saved here.`
            : t`Everyone in ${spaceName} can read the conversations in it.`}
        </EmptyState>
      ) : (
        <Rows>
          {threads.map((thread) => (
            <Row
              key={thread._id}
              to={addresses.threadAt(thread._id)}
              icon="chat"
              title={thread.title}
              aside={<RelativeTime at={thread.lastMessageAt} now={now} />}
            />
          ))}
        </Rows>
      )}
    </Panel>
  )
}

export function LatestFiles({ files, now }: { files: readonly FileSummary[]; now: number }) {
  const { t } = useLingui()
  const { bytes } = useFormats()
  const { spaceName, mayEdit, addresses } = usePlace()
  return (
    <Panel id="latest-files" title={t`Files`} all={addresses.files}>
      {files.length === 0 ? (
        <EmptyState
          icon="folder"
          title={t`No files yet`}
          action={
            mayEdit ? (
              <LinkButton to={addresses.files} variant="secondary" size="sm">{t`Upload`}</LinkButton>
            ) : undefined
          }
        >
          {spaceName === null
            ? t`Your files are available on every device you're signed in on.`
            : t`Everyone in ${spaceName} can open the files in it.`}
        </EmptyState>
      ) : (
        <Rows>
          {files.map((file) => (
            <Row
              key={file._id}
              to={addresses.files}
              state={{ open: file._id }}
              icon={file.mimeType.startsWith("image/") ? "image" : "file"}
              title={file.fileName}
              aside={
                <>
                  <span className="max-sm:hidden">{bytes(file.size)} · </span>
                  <RelativeTime at={file._creationTime} now={now} />
                </>
              }
            />
          ))}
        </Rows>
      )}
    </Panel>
  )
}

function Panel({
  id,
  title,
  all,
  children,
}: {
  id: string
  title: string
  all: string
  children: ReactNode
}) {
  return (
    <section
      aria-labelledby={id}
      className="flex flex-col rounded-lg border border-line bg-surface shadow-sm"
    >
      <div className="flex items-center justify-between border-b border-line py-1.5 pr-2 pl-5">
        <h2 id={id} className="font-medium">
          {title}
        </h2>
        <Link
          to={all}
          aria-describedby={id}
          className="flex min-h-9 items-center gap-1 rounded-md px-3 text-sm text-muted hover:bg-hover hover:text-ink touch:min-h-11"
        >
          <Trans>All</Trans>
          <Icon name="chevron-right" className="size-3.5" />
        </Link>
      </div>
      {children}
    </section>
  )
}

function Rows({ children }: { children: ReactNode }) {
  return <ul className="p-1.5">{children}</ul>
}

function Row({
  to,
  state,
  icon,
  title,
  aside,
}: {
  to: string
  state?: object
  icon: IconName
  title: string
  aside: ReactNode
}) {
  return (
    <li>
      <Link
        to={to}
        state={state}
        prefetch="intent"
        className="flex min-h-11 items-center gap-3 rounded-md px-3.5 text-sm transition-colors hover:bg-hover focus-visible:-outline-offset-2"
      >
        <Icon name={icon} className="text-faint" />
        <span dir="auto" className="min-w-0 flex-1 truncate text-left font-medium">
          {title}
        </span>
        <span className="shrink-0 text-faint tabular-nums">{aside}</span>
      </Link>
    </li>
  )
}
