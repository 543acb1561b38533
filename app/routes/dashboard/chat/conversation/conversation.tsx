import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react"
import { useIsLive, useMutate } from "#live/react"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import { Spinner } from "#app/ui/spinner.tsx"
import { chatOperations } from "#server/chat/operations-contract.ts"
import { urlOf } from "#server/operations/contract.ts"
import { ReplyNotice } from "./reply-notice.tsx"
import { send, type RequestRefused } from "#app/routes/dashboard/requests/send.ts"
import { plainText, type Bubble } from "./bubbles.ts"
import { ReaderNotice } from "#app/routes/dashboard/chat/composer/reader-notice.tsx"
import { useAttempt } from "#app/routes/dashboard/requests/use-attempt.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"
import { Composer } from "#app/routes/dashboard/chat/composer/composer.tsx"
import { clearDraft, useDraft, type Draft } from "#app/routes/dashboard/chat/composer/drafts.ts"
import { findSentFrom, MessageBlock, useBlocks } from "./message-block.tsx"
import { usePendingMessages } from "#app/routes/dashboard/chat/composer/pending-messages.tsx"
import { useChatLayout } from "#app/routes/dashboard/chat/threads/use-chat-layout.ts"
import { RefusalAlert, useObstacle } from "#app/routes/dashboard/chat/composer/refusal-alert.tsx"
import { useCountdown } from "#app/routes/dashboard/chat/composer/use-countdown.ts"
import { useEarlier, type Earlier } from "./use-earlier.ts"
import { useEndInSight } from "./use-end-in-sight.ts"
import type { useExchange } from "./use-exchange.ts"
import { useMarkRead } from "./use-mark-read.ts"
import { useFoundMessage } from "./use-found-message.ts"
import { useEscape } from "./use-shortcuts.ts"

interface ConversationProps {
  threadId: string
  /** In a space: the model replies only if it is named. */
  peopleOnly: boolean
  exchange: ReturnType<typeof useExchange>
  earlier: Earlier
  /** Who else is there. Null for a personal conversation. */
  presence: ReactNode
  /** The messages that wait for their turn. */
  line: ReactNode
}

export function Conversation({ threadId, peopleOnly, exchange, earlier, presence, line }: ConversationProps) {
  const { t } = useLingui()
  const { bubbles, isReplying, refusal, editing, announcement } = exchange
  const { spaceId, mayEdit } = usePlace()
  const { frame, content, isAtEnd, goToEnd } = useEndInSight()
  const mark = useEarlier(earlier, frame)
  useFoundMessage(bubbles, earlier)
  useMarkRead(threadId, bubbles)
  const acts = useActs(threadId, bubbles, goToEnd, spaceId !== undefined)
  const stop = useStop(threadId, isReplying && mayEdit)
  useEscape(stop)
  const last = bubbles.at(-1)
  const blocks = useBlocks(bubbles)
  const sentFrom = findSentFrom(bubbles)

  return (
    <div className="group/chat contents" data-answering={isReplying || undefined}>
      <div className="relative min-h-0 flex-1">
        <div
          ref={frame}
          tabIndex={0}
          role="group"
          aria-label={t`Conversation`}
          className="flex h-full flex-col-reverse overflow-y-auto overscroll-contain -outline-offset-2"
        >
          <div ref={content} className="mb-auto w-full px-4 py-6">
            <h2 className="sr-only">
              <Trans>Messages</Trans>
            </h2>
            <div ref={mark} className="flex min-h-px justify-center not-empty:pb-4">
              {earlier.hasMore ? <EarlierMark earlier={earlier} /> : null}
            </div>
            <div
              role="log"
              aria-live="off"
              aria-label={t`Messages`}
              className="mx-auto w-full max-w-3xl space-y-4"
            >
              {blocks.map((block) => (
                <MessageBlock
                  key={block.number}
                  block={block}
                  last={last}
                  editing={block.bubbles.some(({ id }) => id === editing?.messageId) ? editing : null}
                  sentFrom={block.bubbles.some(({ id }) => id === sentFrom) ? sentFrom : null}
                  onEdit={acts.edit}
                  onAgain={acts.again}
                  onAskAbout={acts.askAbout}
                  peopleOnly={peopleOnly}
                  threadId={threadId}
                />
              ))}
            </div>
            {last ? (
              <div className="mx-auto mt-4 w-full max-w-3xl empty:hidden">
                <ReplyNotice bubble={last} onRetry={() => acts.again(last)} onContinue={acts.continue} />
              </div>
            ) : null}
          </div>
        </div>
        {isAtEnd ? null : (
          <div className="absolute bottom-4 left-1/2 -translate-x-1/2">
            <Button
              variant="secondary"
              size="icon"
              className="rounded-full! shadow-md"
              aria-label={t`Go to the latest message`}
              onClick={goToEnd}
            >
              <Icon name="arrow-down" />
            </Button>
          </div>
        )}
      </div>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      {presence === null ? null : <div className="h-7 shrink-0 px-4">{presence}</div>}
      <div className="shrink-0 px-4">{line}</div>
      {mayEdit ? (
        <ComposerArea
          threadId={threadId}
          peopleOnly={peopleOnly}
          refusal={refusal}
          onStop={stop ?? undefined}
          acts={acts}
        />
      ) : (
        <div className="shrink-0 px-4 pb-4">
          <ReaderNotice />
        </div>
      )}
    </div>
  )
}

/**
 * The button is for screen readers and for browsers without IntersectionObserver; otherwise earlier
 * messages load automatically.
 */
function EarlierMark({ earlier }: { earlier: Earlier }) {
  const { t } = useLingui()
  if (earlier.isLoading) return <Spinner label={t`Loading earlier messages`} />
  return (
    <Button variant="ghost" size="sm" onClick={earlier.loadMore}>
      <Trans>Show earlier messages</Trans>
    </Button>
  )
}

interface ComposerProps {
  threadId: string
  peopleOnly: boolean
  refusal: RequestRefused | null
  onStop: (() => void) | undefined
  acts: ReturnType<typeof useActs>
}

/** A component of its own, so that typing does not render the messages again. */
function ComposerArea({ threadId, peopleOnly, refusal, onStop, acts }: ComposerProps) {
  const { t } = useLingui()
  const { model } = useChatLayout()
  const [draft, setDraft] = useDraft(threadId)
  const wait = useCountdown(refusal?.retryAt ?? null)
  return (
    <div className="shrink-0 px-4 pb-[max(1rem,env(safe-area-inset-bottom))]">
      <RefusalAlert refusal={refusal} wait={wait} onDismiss={acts.dismiss} />
      <Composer
        draft={draft}
        onDraft={setDraft}
        peopleOnly={peopleOnly}
        onSend={({ toPeople }) => {
          clearDraft(threadId)
          if (toPeople) acts.tell(draft)
          else if (onStop) acts.queue(draft)
          else acts.ask(draft)
        }}
        onStop={onStop}
        onEditLast={acts.editLast}
        blocked={useObstacle(model.available, wait)}
        placeholder={peopleOnly ? t`Write to the others…` : t`Ask a follow-up…`}
      />
    </div>
  )
}

/**
 * The actions of a conversation. The functions keep their identity, so that they do not cause
 * messages to render again.
 */
function useActs(threadId: string, bubbles: Bubble[], goToEnd: () => void, isShared: boolean) {
  const { t } = useLingui()
  const questions = usePendingMessages()
  const own = useUser()._id
  const latest = useRef(bubbles)
  useEffect(() => {
    latest.current = bubbles
  })
  return useMemo(() => {
    const contentOf = ({ parts, attachments }: Bubble) => ({ text: plainText(parts), attachments })
    const ask = (draft: Draft) => {
      questions.ask(threadId, draft, { mayWait: isShared })
      goToEnd()
    }
    const edit = (bubble: Bubble) => {
      const { id, isNote } = bubble
      if (id) questions.edit(threadId, { messageId: id, ...contentOf(bubble), isNote })
    }
    return {
      ask,
      /** A message that waits for the reply that is being generated. */
      queue: (draft: Draft) => void questions.queue(threadId, draft),
      /** A message to the people in a space. */
      tell(draft: Draft) {
        void questions.queue(threadId, draft, { toPeople: true })
        goToEnd()
      },
      edit,
      dismiss: () => questions.dismiss(threadId),
      continue: () => ask({ text: t`Continue where you stopped.`, attachments: [] }),
      /** Requests another reply to the same message, in place of this one. */
      again({ id, requestId, status }: Bubble) {
        const question = latest.current.findLast(
          (each) => each.role === "user" && each.requestId === requestId,
        )
        if (!id || !requestId || !question) return
        const asked = { threadId, requestId, ...contentOf(question), ask: isShared }
        questions.askAgain({ ...asked, again: status === "completed", supersedes: id })
        goToEnd()
      },
      /** Requests a reply to a message between people. */
      askAbout(note: Bubble) {
        const { requestId } = note
        if (requestId) questions.askAbout({ threadId, requestId, ...contentOf(note) })
        goToEnd()
      },
      editLast() {
        const question = latest.current.findLast(
          ({ role, isNote, authorId }) => role === "user" && (!isNote || authorId === own),
        )
        if (question && latest.current.every(({ status }) => status !== "running")) edit(question)
      },
    }
  }, [questions, threadId, goToEnd, isShared, own, t])
}

/** Null unless a reply is being generated. */
function useStop(threadId: string, isReplying: boolean): (() => void) | null {
  const { t } = useLingui()
  const questions = usePendingMessages()
  const mutate = useMutate()
  const isLive = useIsLive()
  const attempt = useAttempt()
  const [isStopping, setStopping] = useState(false)
  if (!isReplying && isStopping) setStopping(false)
  if (!isReplying) return null
  // A mutation would wait for a connection, but a reply can be read and stopped without one.
  const stop = () =>
    isLive
      ? mutate(chatOperations.stop, { threadId })
      : send("POST", urlOf(chatOperations.stopAndWait, { threadId }))
  return () => {
    if (isStopping) return
    setStopping(true)
    void attempt(t`The reply couldn't be stopped`, () => questions.whenTaken(threadId, stop)).then(
      (isAsked) => (isAsked ? undefined : setStopping(false)),
    )
  }
}
