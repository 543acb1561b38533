import { msg } from "@lingui/core/macro"
import { createContext, use, useCallback, useState, useSyncExternalStore, type ReactNode } from "react"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { postMessage, type OutgoingMessage } from "./send-message.ts"
import { RequestRefused } from "#app/routes/dashboard/requests/send.ts"
import { readDraft, returnToDraft, clearDraft, type Draft } from "./drafts.ts"

/**
 * A message that is being sent: shown from the moment it is sent until the records contain its
 * turn.
 */
export interface PendingMessage extends OutgoingMessage {
  /** The id of the reply to replace, when another one is requested. */
  supersedes: string | null
  /** It is expected to ask nobody. */
  toPeople: boolean
  /** The message that it replaces is one between people: it is changed in its place. */
  staysInPlace: boolean
  isTaken: boolean
}

const PLAIN = { supersedes: null, toPeople: false, staysInPlace: false, isTaken: false }

type Sending = OutgoingMessage & Partial<Pick<PendingMessage, "supersedes" | "toPeople" | "staysInPlace">>

/**
 * A message in a space that is sent while a reply is being generated: it will wait for its turn. Or
 * one to the people there, which waits for nothing.
 */
export interface QueuedMessage extends Draft {
  requestId: string
  toPeople: boolean
}

/** What a page keeps about a conversation besides its records. */
export interface Exchange {
  pending: PendingMessage | null
  /** Why the last message was refused. */
  refusal: RequestRefused | null
  /** Those that the records do not have yet. */
  queued: readonly QueuedMessage[]
  /** The stored message that is being edited, and its edited content. */
  editing: (Draft & { messageId: string; isNote: boolean }) | null
}

const QUIET: Exchange = { pending: null, refusal: null, queued: [], editing: null }

/**
 * Milliseconds. The records of an accepted message arrive immediately. If they have not arrived
 * after this time, they were deleted again.
 */
const LOST_AFTER = 10_000

export type PendingMessages = ReturnType<typeof createPendingMessages>

const PendingMessagesContext = createContext<PendingMessages | null>(null)

/**
 * Keeps the messages that are being sent in each conversation, so that sending continues while
 * another one is on the screen.
 */
export function PendingMessagesProvider({ children }: { children: ReactNode }) {
  const [pendingMessages] = useState(createPendingMessages)
  return <PendingMessagesContext value={pendingMessages}>{children}</PendingMessagesContext>
}

export function usePendingMessages(): PendingMessages {
  const pendingMessages = use(PendingMessagesContext)
  if (!pendingMessages) throw new Error("Pending messages exist only inside <PendingMessagesProvider>.")
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
  /** Messages that may have been stored although the request failed. */
  const doubtful = new Map<string, PendingMessage>()
  /** Conversations that were created here and have not been shown yet. */
  const created = new Set<string>()
  /** How to stop the reply to a message that is still being sent. */
  const stopsWanted = new Map<string, () => Promise<unknown>>()

  const of = (threadId: string) => exchanges.get(threadId) ?? QUIET

  function change(threadId: string, to: Partial<Exchange>) {
    exchanges.set(threadId, { ...of(threadId), ...to })
    for (const reader of readers) reader()
  }

  function begin(message: Sending) {
    if (of(message.threadId).pending) return
    void ask({ ...PLAIN, ...message })
  }

  async function ask(pending: PendingMessage) {
    const { threadId } = pending
    const isCurrent = () => of(threadId).pending?.requestId === pending.requestId
    change(threadId, { pending, refusal: null, editing: null })
    try {
      const { waits, asksNobody } = await postMessage(pending)
      if (!isCurrent()) return
      // Somebody else's message came first.
      if (waits) {
        stopsWanted.delete(threadId)
        change(threadId, { pending: null })
        return hold(threadId, { ...pending, toPeople: false })
      }
      change(threadId, {
        pending: { ...pending, toPeople: pending.toPeople || asksNobody, isTaken: true },
      })
      const stop = stopsWanted.get(threadId)
      stopsWanted.delete(threadId)
      if (stop) void stop().catch(() => {})
      setTimeout(() => isCurrent() && change(threadId, { pending: null }), LOST_AFTER)
    } catch (problem) {
      stopsWanted.delete(threadId)
      // If it is no longer current, the records have it, although the request failed.
      if (!isCurrent()) return
      giveBack(pending, refusalOf(problem))
    }
  }

  function giveBack(pending: PendingMessage, refusal: RequestRefused) {
    const { threadId, requestId, text, attachments, replaces, supersedes, staysInPlace } = pending
    if (refusal.status === 0) doubtful.set(threadId, pending)
    if (supersedes || pending.ask) return change(threadId, { pending: null, refusal })
    if (replaces) {
      const editing = { messageId: replaces, text, attachments, isNote: staysInPlace }
      return change(threadId, { pending: null, refusal, editing })
    }
    if (of(threadId).pending?.requestId === requestId) returnToDraft(threadId, { text, attachments })
    change(threadId, { pending: null, refusal })
  }

  /** Shows a stored message that waits, until the records have it. */
  function hold(threadId: string, { requestId, text, attachments, toPeople }: QueuedMessage) {
    if (!isQueued(threadId, requestId))
      change(threadId, { queued: [...of(threadId).queued, { requestId, text, attachments, toPeople }] })
    setTimeout(() => settleQueued(threadId, requestId), LOST_AFTER)
  }

  /** That of the same message before, if it may have been stored although its request failed. */
  function idFor(threadId: string, draft: Draft, replaces: string | null): string {
    const before = doubtful.get(threadId)
    doubtful.delete(threadId)
    const isSame = before && isSameDraft(before, draft) && (before.replaces ?? null) === replaces
    return isSame && !before.supersedes && !before.ask ? before.requestId : crypto.randomUUID()
  }

  function isQueued(threadId: string, requestId: string) {
    return of(threadId).queued.some((each) => each.requestId === requestId)
  }

  function settleQueued(threadId: string, requestId: string) {
    if (!isQueued(threadId, requestId)) return
    change(threadId, { queued: of(threadId).queued.filter((each) => each.requestId !== requestId) })
  }

  return {
    of,
    subscribe(reader: () => void) {
      readers.add(reader)
      return () => void readers.delete(reader)
    },
    /** Sends a new message, at the end of the conversation or in place of a stored one. */
    ask(
      threadId: string,
      { text, attachments }: Draft,
      how: Pick<Sending, "replaces" | "staysInPlace" | "toPeople" | "mayWait"> = {},
    ) {
      const requestId = idFor(threadId, { text, attachments }, how.replaces ?? null)
      begin({ threadId, requestId, text, attachments, ...how })
    },
    /**
     * Sends a new message while a reply is being generated, which waits for its turn, or a message to
     * the people in a space, which waits for nothing.
     */
    async queue(
      threadId: string,
      { text, attachments }: Draft,
      { toPeople = false }: { toPeople?: boolean } = {},
    ) {
      const requestId = idFor(threadId, { text, attachments }, null)
      const message = { requestId, text, attachments, toPeople }
      change(threadId, { queued: [...of(threadId).queued, message], refusal: null })
      try {
        await postMessage({ ...message, threadId, mayWait: true })
        hold(threadId, message)
      } catch (problem) {
        // If it is no longer there, the records have it, although the request failed.
        if (!isQueued(threadId, message.requestId)) return
        settleQueued(threadId, message.requestId)
        const refusal = refusalOf(problem)
        if (refusal.status === 0) doubtful.set(threadId, { ...PLAIN, ...message, threadId })
        returnToDraft(threadId, message)
        change(threadId, { refusal })
      }
    },
    settleQueued,
    /**
     * Requests another reply to the last message. A complete reply is only replaced if `again` is
     * set.
     */
    askAgain(question: OutgoingMessage & { supersedes: string }) {
      begin(question)
    },
    /** Asks the model for a reply to a stored message between people. */
    askAbout(question: OutgoingMessage) {
      begin({ ...question, ask: true })
    },
    /** Calls `stop` when the message that is being sent, if there is one, has been accepted. */
    async whenTaken(threadId: string, stop: () => Promise<unknown>) {
      const { pending } = of(threadId)
      if (pending && !pending.isTaken) stopsWanted.set(threadId, stop)
      else await stop()
    },
    edit(threadId: string, editing: Exchange["editing"]) {
      change(threadId, { editing })
    },
    dismiss(threadId: string) {
      change(threadId, { refusal: null })
    },
    /** Call it when the records have the turn of this message. */
    settle(threadId: string, requestId: string) {
      const asked = of(threadId)
      if (asked.pending?.requestId === requestId) change(threadId, { pending: null })
      const doubted = doubtful.get(threadId)
      if (doubted?.requestId !== requestId) return
      doubtful.delete(threadId)
      if (isSameDraft(readDraft(threadId), doubted)) clearDraft(threadId)
      change(threadId, { refusal: null, editing: null })
    },
    /** Call it before a conversation that was created here is shown. */
    markCreated(threadId: string) {
      created.add(threadId)
    },
    /** Returns whether the conversation was created here and had not been shown. */
    markShown: (threadId: string) => created.delete(threadId),
    /** The message that may have been stored although its request failed, if there is one. */
    doubted: (threadId: string) => doubtful.get(threadId) ?? null,
  }
}

function isSameDraft(one: Draft, other: Draft): boolean {
  return (
    one.text === other.text &&
    one.attachments.length === other.attachments.length &&
    one.attachments.every(({ fileId }, at) => fileId === other.attachments[at]?.fileId)
  )
}

export function refusalOf(problem: unknown): RequestRefused {
  if (problem instanceof RequestRefused) return problem
  const failure = msg`Your message couldn't be sent.`
  return new RequestRefused(0, problem instanceof Error ? problem.message : i18nOfDocument()._(failure), null)
}
