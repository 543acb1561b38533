import { msg } from "@lingui/core/macro"
import { useLingui } from "@lingui/react/macro"
import { memo, useState } from "react"
import { useFormats } from "#app/language/formats.ts"
import { Avatar } from "#app/ui/avatar.tsx"
import { Button } from "#app/ui/button.tsx"
import { Icon, type IconName } from "#app/ui/icon.tsx"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import { classNames } from "#app/ui/class-names.ts"
import type { LeftOut, ReplyPart } from "#server/chat/contract.ts"
import { ASSISTANT } from "#server/chat/addressee-contract.ts"
import { leftOutAfter } from "#server/chat/failure-contract.ts"
import { CopyButton } from "#app/ui/copy-button.tsx"
import { AttachmentList } from "#app/routes/dashboard/chat/composer/attachment-list.tsx"
import { plainText, type Bubble } from "./bubbles.ts"
import { EarlierVersions } from "./earlier-versions.tsx"
import { inOrder } from "#app/features/markdown/in-order.tsx"
import { classOfText } from "#app/features/markdown/long-run.ts"
import { Markdown } from "#app/features/markdown/markdown.tsx"
import { Reasoning } from "#app/features/markdown/reasoning.tsx"
import { MarkedText } from "#app/routes/dashboard/chat/composer/marked-text.tsx"
import { MessageEditor } from "./message-editor.tsx"
import { MessageTime } from "./message-time.tsx"
import type { Exchange } from "#app/routes/dashboard/chat/composer/pending-messages.tsx"
import { ToolRow } from "./tool-row.tsx"
import { useReveal } from "./use-reveal.ts"

export interface MessageProps {
  bubble: Bubble
  /** The last message omits its short ending: ReplyNotice below it says more. */
  isLast: boolean
  /** Set while this message is being edited. */
  editing: Exchange["editing"]
  onEdit: (bubble: Bubble) => void
  onAgain: (bubble: Bubble) => void
  onAskAbout: (bubble: Bubble) => void
  peopleOnly: boolean
  threadId: string
}

/**
 * Renders again only when its own content has changed, however often the list around it renders.
 */
export const Message = memo(function Message(props: MessageProps) {
  const { t } = useLingui()
  const { bubble, editing, peopleOnly, threadId } = props
  const author = useAuthor(bubble)
  return (
    <article
      id={bubble.id ? `message-${bubble.id}` : undefined}
      aria-label={bubble.role === "user" ? (author?.name ?? t`You`) : t`Answer`}
      aria-busy={bubble.status === "running" || undefined}
      tabIndex={-1}
      className="group/message min-w-0 scroll-mt-16 rounded-lg outline-hidden transition-colors duration-700 target:bg-accent-soft data-found:bg-accent-soft"
    >
      {bubble.role === "assistant" ? (
        <Reply {...props} />
      ) : editing ? (
        <MessageEditor threadId={threadId} editing={editing} peopleOnly={peopleOnly} />
      ) : (
        <UserMessage {...props} />
      )}
    </article>
  )
})

/** Who wrote a message in a space; null for a personal one. */
function useAuthor({ authorId }: Bubble) {
  const { t } = useLingui()
  const { nameOf, members } = usePlace()
  const own = useUser()._id
  if (nameOf === null) return null
  const member = members.find(({ userId }) => userId === authorId)
  return {
    name: authorId === null ? t`You` : nameOf(authorId),
    image: member?.memberImageUrl,
    isOwn: authorId === null || authorId === own,
  }
}

function UserMessage({ bubble, onEdit, onAskAbout, threadId }: MessageProps) {
  const { t } = useLingui()
  const { mayEdit } = usePlace()
  const author = useAuthor(bubble)
  const text = plainText(bubble.parts)
  const isOwn = author?.isOwn ?? true
  return (
    <div className={classNames("flex flex-col gap-1.5", isOwn ? "items-end" : "items-start")}>
      {author === null ? null : (
        <p className="flex max-w-[85%] items-center gap-2 text-xs text-faint">
          {isOwn ? null : (
            <Avatar name={author.name} image={author.image} className="size-6! text-[0.625rem]!" />
          )}
          <span dir="auto" className="truncate">
            {author.name}
          </span>
        </p>
      )}
      {bubble.attachments.length > 0 ? (
        <AttachmentList
          attachments={bubble.attachments}
          className={classNames("max-w-[85%]", isOwn && "justify-end")}
        />
      ) : null}
      {text ? (
        <p
          dir="auto"
          className={classOfText(
            text,
            classNames(
              "max-w-[85%] rounded-xl px-4 py-2.5 [overflow-wrap:anywhere] break-words whitespace-pre-wrap",
              isOwn ? "rounded-br-sm bg-accent-soft" : "rounded-bl-sm border bg-surface",
            ),
          )}
        >
          <MarkedText text={text} names={author ? [ASSISTANT, ...bubble.mentions] : bubble.mentions} />
        </p>
      ) : null}
      <div className="flex items-center gap-0.5">
        {bubble.edited && bubble.id ? <EarlierVersions threadId={threadId} messageId={bubble.id} /> : null}
        <Acts>
          {text ? <CopyButton text={text} label={t`Copy message`} className="size-8" /> : null}
          {bubble.id && bubble.isNote && mayEdit ? (
            <Act
              icon="sparkle"
              title={t`Ask the assistant`}
              label={t`Ask the assistant about this message`}
              onClick={() => onAskAbout(bubble)}
            />
          ) : null}
          {bubble.id && mayEdit && (isOwn || !bubble.isNote) ? (
            <Act icon="edit" title={t`Edit`} label={t`Edit message`} onClick={() => onEdit(bubble)} />
          ) : null}
          <MessageTime at={bubble.createdAt} />
        </Acts>
      </div>
    </div>
  )
}

function Reply({ bubble, isLast, onAgain, threadId }: MessageProps) {
  const { t } = useLingui()
  const { mayEdit } = usePlace()
  const { parts, status, model, tokens } = bubble
  const isRunning = status === "running"
  const [partsAtFirst] = useState(parts.length)
  const text = plainText(parts)
  const tokensUsed = useTokensUsed(tokens)
  const details = [model, tokensUsed].filter(Boolean).join(" · ")
  return (
    <>
      <div className="space-y-3">
        {inOrder(parts, (part, place) => (
          <Part
            part={part}
            isGrowing={isRunning && place === parts.length - 1}
            isRunning={isRunning}
            isNew={place >= partsAtFirst}
          />
        ))}
        {isRunning && parts.at(-1)?.type !== "text" ? <Thinking /> : null}
        {bubble.recall?.without ? <WithoutParts without={bubble.recall.without} /> : null}
        {isLast || !status ? null : <Ending bubble={bubble} />}
      </div>
      {bubble.edited && bubble.id && !isRunning ? (
        <div className="mt-0.5 -ml-2">
          <EarlierVersions threadId={threadId} messageId={bubble.id} />
        </div>
      ) : null}
      {isRunning || !text ? null : (
        <Acts className={classNames("-ml-2", isLast && "opacity-100")}>
          <CopyButton text={text} html={formatted} label={t`Copy reply`} className="size-8" />
          {isLast && status === "completed" && mayEdit ? (
            <Act icon="refresh" title={t`Regenerate`} label={t`Regenerate`} onClick={() => onAgain(bubble)} />
          ) : null}
          <MessageTime at={bubble.createdAt} />
          {details ? (
            <span title={details} className="grid size-8 place-items-center">
              <Icon name="info" />
              <span className="sr-only">{details}</span>
            </span>
          ) : null}
        </Acts>
      )}
    </>
  )
}

/** Rejects if some of the reply is not rendered with its formatting, because it is very long. */
async function formatted(button: Element): Promise<string> {
  const { toRichText } = await import("#app/features/markdown/rich-text.ts")
  return toRichText(button.closest("article"))
}

/** The actions of a message, visible on hover, on keyboard focus, and on touch screens. */
function Acts({ className, children }: { className?: string; children: React.ReactNode }) {
  return (
    <div
      className={classNames(
        "mt-0.5 flex items-center gap-0.5 text-xs text-faint opacity-0 transition-opacity group-focus-within/message:opacity-100 group-hover/message:opacity-100 touch:opacity-100",
        className,
      )}
    >
      {children}
    </div>
  )
}

interface ActProps {
  icon: IconName
  title: string
  /** For screen readers, which do not convey which message it belongs to. */
  label: string
  onClick: () => void
}

/** Hidden while a reply is being generated: the server would refuse it. */
function Act({ icon, title, label, onClick }: ActProps) {
  return (
    <Button
      variant="ghost"
      size="icon"
      className="size-8 group-data-answering/chat:hidden"
      aria-label={label}
      title={title}
      onClick={onClick}
    >
      <Icon name={icon} className="size-3.5" />
    </Button>
  )
}

function useTokensUsed(tokens: Bubble["tokens"]) {
  const { t } = useLingui()
  const formats = useFormats()
  if (!tokens || (tokens.input === null && tokens.output === null)) return null
  const count = formats.number((tokens.input ?? 0) + (tokens.output ?? 0))
  return t`${count} tokens`
}

const ENDINGS = {
  running: null,
  completed: null,
  failed: msg`The model couldn't reply.`,
  interrupted: msg`Interrupted.`,
  timeout: msg`Stopped at the time limit.`,
  stopped: msg`Stopped.`,
  empty: msg`No reply.`,
  withheld: msg`Withheld by the model or a content filter.`,
  filtered: msg`Ended by the model or a content filter.`,
  "used-up": msg`Reached the length limit before replying.`,
  length: msg`Reached the length limit.`,
  steps: msg`Reached the limit of tool calls.`,
}

const WITHOUT = {
  images: msg`Earlier images were left out, because the model can't receive them.`,
  failed: msg`Earlier messages that got no reply were left out.`,
}

function WithoutParts({ without }: { without: readonly LeftOut[] }) {
  const { t } = useLingui()
  return <p className="text-sm text-faint">{without.map((one) => t(WITHOUT[one])).join(" ")}</p>
}

/** What the model does not receive again after it refused it. */
const LEFT_OUT = {
  message: msg`The model refused this message. It isn't sent to the model again.`,
  images: msg`The model refused the image. It isn't sent to the model again.`,
}

function Ending({ bubble }: { bubble: Bubble }) {
  const { t } = useLingui()
  const { failure, shortfall, status } = bubble
  const leftOut = leftOutAfter(failure)
  const ending = shortfall ?? status
  if (ending === null) return null
  const words = leftOut ? LEFT_OUT[leftOut] : ENDINGS[ending]
  return words ? <p className="text-sm text-faint">{t(words)}</p> : null
}

interface PartProps {
  part: ReplyPart
  isGrowing: boolean
  isRunning: boolean
  isNew: boolean
}

function Part({ part, isGrowing, isRunning, isNew }: PartProps) {
  if (part.type === "tool") return <ToolRow part={part} isRunning={isRunning} />
  if (part.type === "reasoning") return <Reasoning text={part.text} isGrowing={isGrowing} />
  return <Words text={part.text} isGrowing={isGrowing} isNew={isNew} />
}

function Words({ text, isGrowing, isNew }: { text: string; isGrowing: boolean; isNew: boolean }) {
  const shown = useReveal(text, { isNew })
  return <Markdown text={shown} isGrowing={isGrowing || shown.length < text.length} />
}

function Thinking() {
  return (
    <span className="inline-flex items-center gap-1 py-2 text-accent-ink" aria-hidden="true">
      <i className="size-1.5 animate-pulse rounded-full bg-current" />
      <i className="size-1.5 animate-pulse rounded-full bg-current [animation-delay:0.2s]" />
      <i className="size-1.5 animate-pulse rounded-full bg-current [animation-delay:0.4s]" />
    </span>
  )
}
