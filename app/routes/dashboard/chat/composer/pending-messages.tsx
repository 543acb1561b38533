import { msg } from "@lingui/core/macro"
import { createContext, use, useCallback, useState, useSyncExternalStore, type ReactNode } from "react"
import { i18nOfDocument } from "#app/language/i18n.ts"
import { askQuestion, type Question } from "./send-message.ts"
import { RequestRefused, send } from "../../send.ts"
import { readDraft, returnToDraft, clearDraft, type Draft } from "./drafts.ts"

/** A question on its way: shown from the moment it is asked until the records have its turn. */
export interface Asking extends Question {
  /** The answer that goes, where another one is asked for. */
  supersedes: string | null
  isTaken: boolean
}

/** What one page holds of a conversation besides its records. */
export interface Exchange {
  asking: Asking | null
  /** Why the last question was not taken. */
  refusal: RequestRefused | null
  /** The stored question that is being edited, and how. */
  editing: (Draft & { messageId: string }) | null
}

const QUIET: Exchange = { asking: null, refusal: null, editing: null }

/**
 * Milliseconds. The records of a question that was taken come at once; past this they were removed
 * again.
 */
const LOST_AFTER = 10_000

export type Questions = ReturnType<typeof createQuestions>

const QuestionsContext = createContext<Questions | null>(null)

/**
 * Keeps what is being asked in each conversation, so that it goes on while another is on the
 * screen.
 */
export function QuestionsProvider({ children }: { children: ReactNode }) {
  const [questions] = useState(createQuestions)
  return <QuestionsContext value={questions}>{children}</QuestionsContext>
}

export function useQuestions(): Questions {
  const questions = use(QuestionsContext)
  if (!questions) throw new Error("Questions are asked only inside <QuestionsProvider>.")
  return questions
}

export function useAsked(threadId: string): Exchange {
  const questions = useQuestions()
  return useSyncExternalStore(
    questions.subscribe,
    useCallback(() => questions.of(threadId), [questions, threadId]),
    () => QUIET,
  )
}

function createQuestions() {
  const exchanges = new Map<string, Exchange>()
  const readers = new Set<() => void>()
  /** Questions that may have been stored although their sender never heard so. */
  const doubtful = new Map<string, Asking>()
  const stopsWanted = new Set<string>()

  const of = (threadId: string) => exchanges.get(threadId) ?? QUIET

  function change(threadId: string, to: Partial<Exchange>) {
    exchanges.set(threadId, { ...of(threadId), ...to })
    for (const reader of readers) reader()
  }

  function begin(asking: Omit<Asking, "isTaken">) {
    if (of(asking.threadId).asking) return
    void ask({ ...asking, isTaken: false })
  }

  async function ask(asking: Asking) {
    const { threadId } = asking
    const isCurrent = () => of(threadId).asking?.requestId === asking.requestId
    change(threadId, { asking, refusal: null, editing: null })
    try {
      await askQuestion(asking)
      if (!isCurrent()) return
      change(threadId, { asking: { ...asking, isTaken: true } })
      if (stopsWanted.delete(threadId)) void stop(threadId).catch(() => {})
      setTimeout(() => isCurrent() && change(threadId, { asking: null }), LOST_AFTER)
    } catch (problem) {
      stopsWanted.delete(threadId)
      // The records have it although its sender was told otherwise.
      if (isCurrent()) giveBack(asking, refusalOf(problem))
    }
  }

  function giveBack(asking: Asking, refusal: RequestRefused) {
    const { threadId, requestId, text, attachments, replaces, supersedes } = asking
    if (refusal.status === 0) doubtful.set(threadId, asking)
    if (supersedes) return change(threadId, { asking: null, refusal })
    if (replaces) {
      return change(threadId, { asking: null, refusal, editing: { messageId: replaces, text, attachments } })
    }
    if (of(threadId).asking?.requestId === requestId) returnToDraft(threadId, { text, attachments })
    change(threadId, { asking: null, refusal })
  }

  async function stop(threadId: string) {
    const { asking } = of(threadId)
    // There is nothing to stop yet; once it was taken there is.
    if (asking && !asking.isTaken) return void stopsWanted.add(threadId)
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
    askAgain(question: Question & { supersedes: string }) {
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
      if (asked.asking?.requestId === requestId) change(threadId, { asking: null })
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
  const words = msg`Your message couldn't be sent.`
  return new RequestRefused(0, problem instanceof Error ? problem.message : i18nOfDocument()._(words), null)
}
