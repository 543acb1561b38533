import { useMemo, useSyncExternalStore } from "react"
import type { Attachment } from "#server/chat/contract.ts"

/** An unsent message: its text and its files. */
export interface Draft {
  text: string
  attachments: Attachment[]
}

const changes = new EventTarget()
/** Used when the browser's storage is full or blocked. */
const unstored = new Map<string, string>()

const EMPTY: Draft = { text: "", attachments: [] }

/**
 * The draft under a name, kept in this browser until it is sent: it survives reloads and
 * navigation.
 */
export function useDraft(name: string) {
  const stored = useSyncExternalStore(
    subscribe,
    () => read(name),
    () => "",
  )
  const draft = useMemo(() => parse(stored), [stored])
  return [draft, (next: Draft) => writeDraft(name, next)] as const
}

export function readDraft(name: string): Draft {
  return parse(read(name))
}

export function writeDraft(name: string, draft: Draft) {
  unstored.delete(name)
  const isEmpty = draft.text === "" && draft.attachments.length === 0
  try {
    if (isEmpty) localStorage.removeItem(keyOf(name))
    else localStorage.setItem(keyOf(name), write(draft))
  } catch {
    unstored.set(name, write(draft))
  }
  changes.dispatchEvent(new Event("change"))
}

export function clearDraft(name: string) {
  writeDraft(name, EMPTY)
}

/** Puts a text that could not be sent back into its draft, before anything written there since. */
export function returnToDraft(name: string, { text, attachments }: Draft) {
  const since = readDraft(name)
  const known = new Set(attachments.map(({ fileId }) => fileId))
  writeDraft(name, {
    text: [text, since.text].filter(Boolean).join("\n\n"),
    attachments: [...attachments, ...since.attachments.filter(({ fileId }) => !known.has(fileId))],
  })
}

function read(name: string): string {
  try {
    return unstored.get(name) ?? localStorage.getItem(keyOf(name)) ?? ""
  } catch {
    return ""
  }
}

/** Marks the first line of a stored draft as its files; a draft without files has no such line. */
const MARK = "\u0001"

function write({ text, attachments }: Draft): string {
  return attachments.length > 0 ? `${MARK}${JSON.stringify(attachments)}\n${text}` : text
}

function parse(stored: string): Draft {
  if (!stored) return EMPTY
  if (!stored.startsWith(MARK)) return { text: stored, attachments: [] }
  const end = stored.indexOf("\n")
  try {
    return {
      text: stored.slice(end + 1),
      attachments: JSON.parse(stored.slice(MARK.length, end)) as Attachment[],
    }
  } catch {
    return { text: stored, attachments: [] }
  }
}

/** Other tabs of this browser write drafts too. */
function subscribe(onChange: () => void) {
  changes.addEventListener("change", onChange)
  window.addEventListener("storage", onChange)
  return () => {
    changes.removeEventListener("change", onChange)
    window.removeEventListener("storage", onChange)
  }
}

function keyOf(name: string) {
  return `tideline:draft:${name}`
}
