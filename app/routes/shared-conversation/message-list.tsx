import { Trans, useLingui } from "@lingui/react/macro"
import { inOrder } from "#app/features/markdown/in-order.tsx"
import { classOfText } from "#app/features/markdown/long-run.ts"
import { Markdown } from "#app/features/markdown/markdown.tsx"
import { InTurn } from "#app/features/markdown/turns.tsx"
import { weighText } from "#app/features/markdown/weights.ts"
import { Icon } from "#app/ui/icon.tsx"
import type { SharedMessage } from "#server/chat/contract.ts"

/** The messages of a shared conversation, oldest first, to read only. */
export function MessageList({ messages }: { messages: readonly SharedMessage[] }) {
  const { t } = useLingui()
  if (messages.length === 0)
    return (
      <p className="text-muted">
        <Trans>There are no messages yet.</Trans>
      </p>
    )
  return (
    <div role="log" aria-label={t`Conversation`} className="space-y-8">
      {messages.map((message) => (
        <article
          key={message._id}
          aria-label={message.role === "user" ? t`Message` : t`Reply`}
          aria-busy={message.isGrowing || undefined}
          className="min-w-0"
        >
          {message.role === "user" ? <UserMessage message={message} /> : <Reply message={message} />}
        </article>
      ))}
    </div>
  )
}

function UserMessage({ message: { content, files } }: { message: SharedMessage }) {
  return (
    <div className="flex flex-col items-end gap-1.5">
      {inOrder(files, (name) => (
        <span className="flex max-w-[85%] items-center gap-2 rounded-lg border border-line bg-sunken px-3 py-1.5 text-sm text-muted">
          <Icon name="text" />
          <span dir="auto" className="truncate">
            {name}
          </span>
        </span>
      ))}
      {content ? (
        <p
          dir="auto"
          className={classOfText(
            content,
            "max-w-[85%] rounded-xl rounded-br-sm bg-accent-soft px-4 py-2.5 [overflow-wrap:anywhere] break-words whitespace-pre-wrap",
          )}
        >
          <InTurn weight={weighText(content)}>{content}</InTurn>
        </p>
      ) : null}
    </div>
  )
}

function Reply({ message: { content, isGrowing } }: { message: SharedMessage }) {
  if (content) return <Markdown text={content} isGrowing={isGrowing} />
  return (
    <p className="text-sm text-faint">
      {isGrowing ? <Trans>A reply is being written…</Trans> : <Trans>This reply is empty.</Trans>}
    </p>
  )
}
