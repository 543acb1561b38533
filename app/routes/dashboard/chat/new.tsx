import { msg } from "@lingui/core/macro"
import { Trans, useLingui } from "@lingui/react/macro"
import { useEffect, useEffectEvent, useRef, useState } from "react"
import { useLocation, useNavigate } from "react-router"
import { i18nOf } from "#app/language/i18n.ts"
import { useLive } from "#live/react"
import { Icon } from "#app/ui/icon.tsx"
import type { RequestRefused } from "#app/routes/dashboard/requests/send.ts"
import { Composer } from "./composer/composer.tsx"
import { clearDraft, readDraft, returnToDraft, useDraft, writeDraft, type Draft } from "./composer/drafts.ts"
import { ChatHeader } from "./threads/header.tsx"
import { ModelNotice } from "./composer/model-notice.tsx"
import { refusalOf, usePendingMessages } from "./composer/pending-messages.tsx"
import { RefusalAlert, useObstacle } from "./composer/refusal-alert.tsx"
import { postMessage, type OutgoingMessage } from "./composer/send-message.ts"
import { useCountdown } from "./composer/use-countdown.ts"
import { useChatLayout } from "./threads/use-chat-layout.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { ReaderNotice } from "./composer/reader-notice.tsx"
import type { Route } from "./+types/new.ts"

export const meta: Route.MetaFunction = ({ matches }) => [{ title: i18nOf(matches)._(msg`Chat · Tideline`) }]

const SUGGESTIONS = [
  msg`Which files did I add last?`,
  msg`What time is it in Lisbon and in Tokyo?`,
  msg`Write a packing list as a table`,
]

/** The page for a new conversation, which is created with its first message. */
export default function NewConversation() {
  const { t } = useLingui()
  const { model } = useChatLayout()
  const { spaceId, spaceName, mayEdit } = usePlace()
  const name = draftOfNew(spaceId)
  const [draft, setDraft] = useDraft(name)
  const { begin, pending, refusal, dismiss } = useBegin()
  const wait = useCountdown(refusal?.retryAt ?? null)
  const obstacle = useObstacle(model.available, wait)
  useOffered(name, begin)
  const suggestions = spaceName === null ? SUGGESTIONS : []
  return (
    <>
      <ChatHeader title={t`New conversation`} />
      <ModelNotice />
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto px-4">
        <div className="m-auto w-full max-w-3xl py-8">
          <span className="mb-5 grid size-11 place-items-center rounded-lg border border-line bg-surface text-accent-ink shadow-sm">
            <Icon name="sparkle" className="size-5" />
          </span>
          <h2 className="text-2xl font-semibold">
            {mayEdit ? t`What would you like to know?` : t`Conversations of ${spaceName}`}
          </h2>
          <p className="mt-2 max-w-lg text-muted">
            {spaceName === null ? (
              <Trans>
                The chat can use your files and your other conversations. Conversations are saved here until
                you delete them.
              </Trans>
            ) : mayEdit ? (
              <Trans>
                Everyone in {spaceName} reads this conversation and can continue it if they may edit. The chat
                can use the files and conversations of the space.
              </Trans>
            ) : (
              <Trans>Choose a conversation to read it. It grows as the others write.</Trans>
            )}
          </p>
          <ul className="mt-6 flex flex-wrap gap-2">
            {suggestions.map((suggestion) => (
              <li key={suggestion.id}>
                <button
                  type="button"
                  disabled={obstacle !== null || pending}
                  onClick={() => begin({ text: t(suggestion), attachments: [] })}
                  className="min-h-9 rounded-full border border-line-strong bg-surface px-3.5 py-1.5 text-left text-sm text-muted shadow-sm transition-colors hover:bg-hover hover:text-ink disabled:opacity-50 touch:min-h-11"
                >
                  {t(suggestion)}
                </button>
              </li>
            ))}
          </ul>
        </div>
      </div>
      <div className="shrink-0 px-4 pb-4">
        <RefusalAlert refusal={refusal} wait={wait} onDismiss={dismiss} />
        {mayEdit ? (
          <Composer
            draft={draft}
            onDraft={setDraft}
            onSend={() => begin(draft)}
            pending={pending}
            blocked={obstacle}
          />
        ) : (
          <ReaderNotice />
        )}
      </div>
    </>
  )
}

/**
 * Sends the message that creates the conversation, and navigates there. The draft is kept until
 * then.
 */
function useBegin() {
  const navigate = useNavigate()
  const questions = usePendingMessages()
  const [pending, setPending] = useState(false)
  const [refusal, setRefusal] = useState<RequestRefused | null>(null)
  const [attempted, setAttempted] = useState<OutgoingMessage | null>(null)
  const threads = useLive(useChatLayout().threads)
  const { spaceId, addresses } = usePlace()
  const name = draftOfNew(spaceId)

  async function attempt({ text, attachments }: Draft) {
    setPending(true)
    setRefusal(null)
    const { threadId, requestId } = attempted?.text === text ? attempted : newIds()
    const message = { threadId, createThread: true, spaceId, requestId, text, attachments }
    setAttempted(message)
    try {
      await postMessage(message)
      await open(message)
    } catch (problem) {
      if (readDraft(name).text !== text) returnToDraft(name, { text, attachments })
      setRefusal(refusalOf(problem))
      setPending(false)
    }
  }

  async function open({ threadId, text }: OutgoingMessage) {
    if (readDraft(name).text === text) clearDraft(name)
    questions.markCreated(threadId)
    await navigate(addresses.threadAt(threadId), { replace: true })
  }

  // Only the response was lost.
  const isStored = refusal !== null && threads.some(({ _id }) => _id === attempted?.threadId)
  const openStored = useEffectEvent(() => attempted && open(attempted))
  useEffect(() => {
    if (isStored) void openStored()
  }, [isStored])

  return {
    begin: (draft: Draft) => void attempt(draft),
    pending,
    refusal,
    dismiss: () => setRefusal(null),
  }
}

/** The draft of a message that begins a conversation. */
const draftOfNew = (spaceId: string | undefined) => (spaceId === undefined ? "new" : `new ${spaceId}`)

const newIds = () => ({ threadId: crypto.randomUUID(), requestId: crypto.randomUUID() })

/**
 * Takes a message from the URL. One written on another page of the dashboard is sent immediately;
 * any other waits to be sent by hand, because anybody can create such a link.
 */
function useOffered(name: string, begin: (draft: Draft) => void) {
  const { state, search } = useLocation()
  const taken = useRef(false)
  useEffect(() => {
    const question = new URLSearchParams(search).get("question")?.trim()
    if (!question || taken.current) return
    taken.current = true
    if (typeof state === "object" && state !== null && "ask" in state && state.ask === true) {
      begin({ text: question, attachments: [] })
    } else if (readDraft(name).text === "") writeDraft(name, { ...readDraft(name), text: question })
  }, [state, search, name, begin])
}
