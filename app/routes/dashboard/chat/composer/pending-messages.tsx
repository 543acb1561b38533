import { msg } from "@lingui/core/macro"
import { createContext, use, useCallback, useState, useSyncExternalStore, type ReactNode } from "react"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { postMessage, type OutgoingMessage } from "./send-message.ts"
import { RequestRefused, send } from "#app/routes/dashboard/send.ts"
import { readDraft, returnToDraft, clearDraft, type Draft } from "./drafts.ts"

/** A question on its way: shown from the moment it is asked until the records have its turn. */
export interface PendingMessage extends OutgoingMessage {
  /** The answer that goes, where another one is asked for. */
  supersedes: string | null
  isTaken: boolean
}

/** What one page holds of a conversation besides its records. */
export interface Exchange {
  pending: PendingMessage | null
  /** Why the last question was not taken. */
  refusal: RequestRefused | null
  /** The stored question that is being edited, and how. */
  editing: (Draft & { messageId: string }) | null
}

const QUIET: Exchange = { pending: null, refusal: null, editing: null }

/**
 * Milliseconds. The records of a question that was taken come at once; past this they were removed
 * again.
 */
const LOST_AFTER = 10_000

export type PendingMessages = ReturnType<typeof createPendingMessages>

const PendingMessagesContext = createContext<PendingMessages | null>(null)

/**
 * Keeps what is being asked in each conversation, so that it goes on while another is on the
 * screen.
 */
export function PendingMessagesProvider({ children }: { children: ReactNode }) {
  const [pendingMessages] = useState(createPendingMessages)
  return <PendingMessagesContext value={pendingMessages}>{children}</PendingMessagesContext>
}

export function usePendingMessages(): PendingMessages {
  const pendingMessages = use(PendingMessagesContext)
  if (!pendingMessages) throw new Error("Questions are asked only inside <QuestionsProvider>.")
  return pendingMessages
}

export function useExchangeOf(threadId: string): Exchange {
  const pendingMessages = usePendingMessages()
  return useSyncExternalStore(
    pendingMessages.subscribe,
    useCallback(() => pendingMessages.of(threadId), [pendingMessages, threadId]),
    () => QUIET,
  )
}

function createPendingMessages() {
  const exchanges = new Map<string, Exchange>()
  const readers = new Set<() => void>()
  /** Questions that may have been stored although their sender never heard so. */
  const doubtful = new Map<string, PendingMessage>()
  const stopsWanted = new Set<string>()

  const of = (threadId: string) => exchanges.get(threadId) ?? QUIET

  function change(threadId: string, to: Partial<Exchange>) {
    exchanges.set(threadId, { ...of(threadId), ...to })
    for (const reader of readers) reader()
  }

  function begin(pending: Omit<PendingMessage, "isTaken">) {
    if (of(pending.threadId).pending) return
    void ask({ ...pending, isTaken: false })
  }

  async function ask(pending: PendingMessage) {
    const { threadId } = pending
    const isCurrent = () => of(threadId).pending?.requestId === pending.requestId
    change(threadId, { pending, refusal: null, editing: null })
    try {
      await postMessage(pending)
      if (!isCurrent()) return
      change(threadId, { pending: { ...pending, isTaken: true } })
      if (stopsWanted.delete(threadId)) void stop(threadId).catch(() => {})
      setTimeout(() => isCurrent() && change(threadId, { pending: null }), LOST_AFTER)
    } catch (problem) {
      stopsWanted.delete(threadId)
      // The records have it although its sender was told otherwise.
      if (isCurrent()) giveBack(pending, refusalOf(problem))
    }
  }

  function giveBack(pending: PendingMessage, refusal: RequestRefused) {
    const { threadId, requestId, text, attachments, replaces, supersedes } = pending
    if (refusal.status === 0) doubtful.set(threadId, pending)
    if (supersedes) return change(threadId, { pending: null, refusal })
    if (replaces) {
      return change(threadId, { pending: null, refusal, editing: { messageId: replaces, text, attachments } })
    }
    if (of(threadId).pending?.requestId === requestId) returnToDraft(threadId, { text, attachments })
    change(threadId, { pending: null, refusal })
  }

  async function stop(threadId: string) {
    const { pending } = of(threadId)
    // There is nothing to stop yet; once it was taken there is.
    if (pending && !pending.isTaken) return void stopsWanted.add(threadId)
    await send("POST", `/api/chat/threads/${threadId}/stop`)
  }

  return {
    of,
    subscribe(reader: () => void) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    /** A new question, at the end of the conversation or in the place of one that is stored. */
    ask(
      threadId: string,
      { text, attachments }: Draft,
      { replaces = null }: { replaces?: string | null } = {},
    ) {
      const before = doubtful.get(threadId)
      doubtful.delete(threadId)
      const isSame = before?.text === text && before.replaces === replaces && !before.supersedes
      const requestId = isSame ? before.requestId : crypto.randomUUID()
      begin({ threadId, requestId, text, attachments, replaces, supersedes: null })
    },
    /**
     * Another answer to the last question. One that is complete is only replaced when `again` says
     * so.
     */
    askAgain(question: OutgoingMessage & { supersedes: string }) {
      begin(question)
    },
    stop,
    edit(threadId: string, editing: Exchange["editing"]) {
      change(threadId, { editing })
    },
    dismiss(threadId: string) {
      change(threadId, { refusal: null })
    },
    /** The records have the turn of this question. */
    settle(threadId: string, requestId: string) {
      const asked = of(threadId)
      if (asked.pending?.requestId === requestId) change(threadId, { pending: null })
      const doubted = doubtful.get(threadId)
      if (doubted?.requestId !== requestId) return
      doubtful.delete(threadId)
      if (readDraft(threadId).text === doubted.text) clearDraft(threadId)
      change(threadId, { refusal: null, editing: null })
    },
    /** The question that may have been stored unheard, if there is one. */
    doubted: (threadId: string) => doubtful.get(threadId) ?? null,
  }
}

function refusalOf(problem: unknown): RequestRefused {
  if (problem instanceof RequestRefused) return problem
  const failure = msg`Your message couldn't be sent.`
  return new RequestRefused(0, problem instanceof Error ? problem.message : i18nOfDocument()._(failure), null)
}
