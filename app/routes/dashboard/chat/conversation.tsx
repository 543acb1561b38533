import { useLayoutEffect, useRef } from "react"
import { Alert } from "#app/ui/alert.tsx"
import { Button } from "#app/ui/button.tsx"
import { Icon } from "#app/ui/icon.tsx"
import type { Entry } from "#server/chat/contract.ts"
import { AnswerNotice } from "./answer-notice.tsx"
import { Composer } from "./composer.tsx"
import { Message } from "./message.tsx"
import { useChatLayout } from "./use-chat-layout.ts"
import { useCountdown } from "./use-countdown.ts"
import { useDraft } from "./drafts.ts"
import { useExchange } from "./use-exchange.ts"
import { useStickToBottom } from "./use-stick-to-bottom.ts"

/** The messages before those on the screen. */
interface Earlier {
  hasMore: boolean
  isLoading: boolean
  loadMore(): void
}

interface ConversationProps {
  threadId: string
  entries: Entry[]
  earlier: Earlier
}

export function Conversation({ threadId, entries, earlier }: ConversationProps) {
  const { model } = useChatLayout()
  const [text, setText] = useDraft(threadId)
  const exchange = useExchange(threadId, entries)
  const { frame, content, isAtBottom, goToBottom } = useStickToBottom()
  const wait = useCountdown(exchange.refusal?.retryAt ?? null)
  useSteadyTop(frame, entries[0]?._id)
  const last = exchange.bubbles.at(-1)

  function ask(question: string) {
    exchange.ask(question)
    goToBottom()
  }
  return (
    <>
      <div className="relative min-h-0 flex-1">
        <div ref={frame} className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none]">
          <div ref={content} className="px-4 py-6">
            <div className="mx-auto w-full max-w-3xl">
              {earlier.hasMore ? (
                <div className="pb-6 text-center">
                  <Button
                    variant="secondary"
                    size="sm"
                    pending={earlier.isLoading}
                    onClick={earlier.loadMore}
                  >
                    Show earlier messages
                  </Button>
                </div>
              ) : null}
              <div role="log" aria-live="off" aria-label="Messages" className="space-y-7">
                {exchange.bubbles.map((bubble) => (
                  <Message key={bubble.key} bubble={bubble} isLast={bubble === last} />
                ))}
              </div>
              {last ? (
                <div className="mt-4 empty:hidden">
                  <AnswerNotice
                    bubble={last}
                    onRetry={exchange.retry}
                    onContinue={() => ask("Continue where you stopped.")}
                  />
                </div>
              ) : null}
            </div>
          </div>
        </div>
        {isAtBottom ? null : (
          <div className="absolute bottom-4 left-1/2 -translate-x-1/2">
            <Button
              variant="secondary"
              size="icon"
              className="rounded-full shadow-md"
              aria-label="Go to the latest message"
              onClick={goToBottom}
            >
              <Icon name="arrow-down" />
            </Button>
          </div>
        )}
      </div>
      <p role="status" className="sr-only">
        {exchange.announcement}
      </p>
      <div className="shrink-0 px-4 pb-4">
        {exchange.refusal && (exchange.refusal.retryAt === null || wait > 0) ? (
          <Alert
            tone={exchange.refusal.retryAt ? "warning" : "danger"}
            title={exchange.refusal.retryAt ? "Too many questions" : "The question was not sent"}
            className="mx-auto mb-3 w-full max-w-3xl"
            action={
              <Button
                variant="ghost"
                size="icon"
                className="-my-1.5"
                aria-label="Dismiss"
                onClick={exchange.dismiss}
              >
                <Icon name="x" />
              </Button>
            }
          >
            {exchange.refusal.message}
          </Alert>
        ) : null}
        <Composer
          text={text}
          onText={setText}
          onSend={() => {
            ask(text)
            setText("")
          }}
          onStop={exchange.isAnswering ? exchange.stop : undefined}
          blocked={blockedBecause(model.available, wait)}
          placeholder="Ask a follow-up…"
        />
      </div>
    </>
  )
}

function blockedBecause(available: boolean, wait: number) {
  if (!available) return "No question can be sent while the chat is switched off."
  if (wait > 0) return `You can send again in ${wait} ${wait === 1 ? "second" : "seconds"}.`
  return null
}

/** When earlier messages come in above, what is being read stays where it is. */
function useSteadyTop(frame: { current: HTMLElement | null }, firstId: string | undefined) {
  const before = useRef({ firstId, height: 0 })
  useLayoutEffect(() => {
    const box = frame.current
    if (!box) return
    if (
      before.current.firstId !== firstId &&
      before.current.height > 0 &&
      box.scrollTop < box.scrollHeight / 2
    ) {
      box.scrollBy({ top: box.scrollHeight - before.current.height, behavior: "instant" })
    }
    before.current = { firstId, height: box.scrollHeight }
  })
}
