import { useId, useMemo, useState, type KeyboardEvent, type RefObject } from "react"
import { flushSync } from "react-dom"
import { isComposing } from "#app/ui/is-composing.ts"
import type { Member } from "#server/spaces/contract.ts"
import { MESSAGE_LIMIT } from "#server/chat/contract.ts"
import { findMentions, findUnmatched, nameMembers } from "#server/notifications/mention-contract.ts"
import { usePlace } from "#app/routes/dashboard/spaces/use-place.ts"
import { useUser } from "#app/routes/dashboard/use-user.ts"

/** Members that are offered at a time. */
const MOST = 8

/** An @ before the caret, with what was typed after it. It may have spaces, as names have. */
const TYPED = /(?<![\p{L}\p{N}_])@([^@\n]{0,60})$/u

interface MentioningOptions {
  text: string
  onText: (text: string) => void
  area: RefObject<HTMLTextAreaElement | null>
}

/**
 * Offers the members of the space while a name is typed after an @, as a listbox that belongs to the
 * field, whose focus stays where it is. Nobody is offered for what is personal.
 */
export function useMentioning({ text, onText, area }: MentioningOptions) {
  const list = useId()
  const own = useUser()._id
  const { members } = usePlace()
  const [caret, setCaret] = useState<number | null>(null)
  const [highlighted, setHighlighted] = useState(0)
  /** The place of an @ whose list was closed. */
  const [closedAt, setClosedAt] = useState<number | null>(null)

  const found = useMemo(() => findNamed(text, members), [text, members])
  const typed = members.length > 1 && caret !== null ? TYPED.exec(text.slice(0, caret)) : null
  const offered =
    typed && typed.index !== closedAt
      ? findByName(members, typed[1] ?? "").filter(({ userId }) => userId !== own)
      : []
  const options = offered.slice(0, MOST)
  const isOpen = options.length > 0
  const at = Math.min(highlighted, options.length - 1)

  function choose(member: Member) {
    const { current } = area
    if (!typed || caret === null || !current) return
    const inserted = `@${mentionName(member, members)} `
    const end = typed.index + inserted.length
    flushSync(() => {
      onText(text.slice(0, typed.index) + inserted + text.slice(caret).replace(/^ /, ""))
      setClosedAt(typed.index)
      setHighlighted(0)
    })
    current.focus()
    current.setSelectionRange(end, end)
    setCaret(end)
  }

  return {
    list,
    options,
    highlighted: at,
    isOpen,
    text,
    area,
    /** Where the text mentions members. */
    marks: found.marks,
    /** What looks like a mention and is none. Empty while one is being chosen. */
    unmatched: isOpen ? [] : found.unmatched,
    choose,
    fieldProps: isOpen
      ? {
          "aria-autocomplete": "list" as const,
          "aria-controls": list,
          "aria-activedescendant": optionId(list, at),
        }
      : {},
    /** Call it whenever the text or the caret may have changed. */
    moved({ selectionStart, selectionEnd, value }: HTMLTextAreaElement) {
      const to = selectionStart === selectionEnd ? selectionStart : null
      setCaret(to)
      const next = to === null ? null : TYPED.exec(value.slice(0, to))
      if (next?.index !== closedAt) setClosedAt(null)
      if (next?.[1] !== typed?.[1]) setHighlighted(0)
    },
    close: () => setCaret(null),
    /** Returns whether the key was for the list. */
    press(event: KeyboardEvent): boolean {
      if (!isOpen || isComposing(event.nativeEvent)) return false
      const step = STEPS[event.key]
      const member = options[at]
      if (step !== undefined) setHighlighted((at + step + options.length) % options.length)
      else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && member) choose(member)
      else if (event.key === "Escape") setClosedAt(typed?.index ?? null)
      else return false
      event.preventDefault()
      return true
    },
  }
}

function findNamed(text: string, members: readonly Member[]) {
  // A longer text cannot be sent.
  if (members.length === 0 || text.length > MESSAGE_LIMIT || !text.includes("@")) return NOTHING
  const names = Array.from(nameMembers(members).values(), ({ name }) => name)
  return { marks: findMentions(text, names), unmatched: findUnmatched(text, names) }
}

const NOTHING = { marks: [], unmatched: [] }

export type Mentioning = ReturnType<typeof useMentioning>

const STEPS: Record<string, number | undefined> = { ArrowDown: 1, ArrowUp: -1 }

export function optionId(list: string, place: number): string {
  return `${list}-${place}`
}

/** Those whose name, or a later part of it, or address begins with the text. */
function findByName(members: readonly Member[], text: string): Member[] {
  const sought = text.toLowerCase()
  const isFirst = ({ memberName }: Member) => memberName?.toLowerCase().startsWith(sought) ?? false
  return members
    .filter(
      (member) =>
        isFirst(member) ||
        member.memberName?.toLowerCase().includes(` ${sought}`) ||
        member.memberEmail.toLowerCase().startsWith(sought),
    )
    .toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one)))
}

/** The name that mentions this member and nobody else. */
function mentionName({ userId, memberName, memberEmail }: Member, members: readonly Member[]): string {
  const name = memberName?.toLowerCase()
  const isShared = members.some(
    (other) => other.userId !== userId && other.memberName?.toLowerCase() === name,
  )
  return memberName && !isShared ? memberName : memberEmail
}
