import { useId, useMemo, useState, type KeyboardEvent, type RefObject } from "react"
import { flushSync } from "react-dom"
import { isComposing } from "#app/ui/is-composing.ts"
import type { Member } from "#server/spaces/contract.ts"
import { addresseeOf, ASSISTANT } from "#server/chat/addressee-contract.ts"
import { MESSAGE_LIMIT } from "#server/chat/contract.ts"
import { findMentions, findUnmatched, nameMembers } from "#server/notifications/mention-contract.ts"
import { usePlace } from "#app/routes/dashboard/place/use-place.ts"
import { useUser } from "#app/routes/dashboard/viewer/use-user.ts"

/** Members that are offered at a time. */
const MOST = 8

/** An @ before the caret, with what was typed after it. It may have spaces, as names have. */
const TYPED = /(?<![\p{L}\p{N}_])@([^@\n]{0,60})$/u

interface MentioningOptions {
  text: string
  onText: (text: string) => void
  area: RefObject<HTMLTextAreaElement | null>
  /** The conversation is for people only. */
  peopleOnly: boolean
}

/** Who can be mentioned: a member, or the assistant. */
export type Mentioned = Pick<Member, "userId" | "memberName" | "memberEmail" | "memberImageUrl">

const THE_ASSISTANT: Mentioned = {
  userId: ASSISTANT,
  memberName: ASSISTANT,
  memberEmail: "",
  memberImageUrl: null,
}

/**
 * Offers the members of the space, and the assistant, while a name is typed after an @, as a listbox that belongs to the
 * field, whose focus stays where it is. Nobody is offered for what is personal.
 */
export function useMentioning({ text, onText, area, peopleOnly }: MentioningOptions) {
  const list = useId()
  const own = useUser()._id
  const { members } = usePlace()
  const [caret, setCaret] = useState<number | null>(null)
  const [highlighted, setHighlighted] = useState(0)
  /** The place of an @ whose list was closed. */
  const [closedAt, setClosedAt] = useState<number | null>(null)

  const found = useMemo(() => findNamed(text, members, peopleOnly), [text, members, peopleOnly])
  const typed = members.length > 0 && caret !== null ? TYPED.exec(text.slice(0, caret)) : null
  const offered =
    typed && typed.index !== closedAt
      ? findByName(
          members.filter(({ userId }) => userId !== own),
          typed[1] ?? "",
        )
      : []
  const options = offered.slice(0, MOST)
  const isOpen = options.length > 0
  const at = Math.min(highlighted, options.length - 1)

  function choose(member: Mentioned) {
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
    /** Whom the message is to. Null for what is personal. */
    addressee: found.addressee,
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

function findNamed(text: string, members: readonly Member[], peopleOnly: boolean) {
  if (members.length === 0) return { marks: [], unmatched: [], addressee: null }
  // A longer text cannot be sent.
  if (text.length > MESSAGE_LIMIT || !text.includes("@"))
    return { marks: [], unmatched: [], addressee: addresseeOf("", [], peopleOnly) }
  const named = Array.from(nameMembers(members).values(), ({ name }) => name)
  const names = [ASSISTANT, ...named]
  return {
    marks: findMentions(text, names),
    unmatched: findUnmatched(text, names),
    addressee: addresseeOf(text, named, peopleOnly),
  }
}

export type Mentioning = ReturnType<typeof useMentioning>

const STEPS: Record<string, number | undefined> = { ArrowDown: 1, ArrowUp: -1 }

export function optionId(list: string, place: number): string {
  return `${list}-${place}`
}

/** Those whose name, or a later part of it, or address begins with the text. */
function findByName(members: readonly Member[], text: string): Mentioned[] {
  const sought = text.toLowerCase()
  const isFirst = ({ memberName }: Mentioned) => memberName?.toLowerCase().startsWith(sought) ?? false
  const found = members
    .filter(
      (member) =>
        isFirst(member) ||
        member.memberName?.toLowerCase().includes(` ${sought}`) ||
        member.memberEmail.toLowerCase().startsWith(sought),
    )
    .toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one)))
  return isFirst(THE_ASSISTANT) ? [...found.slice(0, MOST - 1), THE_ASSISTANT] : found
}

/** The name that mentions this member and nobody else. */
function mentionName({ userId, memberName, memberEmail }: Mentioned, members: readonly Member[]): string {
  const name = memberName?.toLowerCase()
  const isShared = members.some(
    (other) => other.userId !== userId && other.memberName?.toLowerCase() === name,
  )
  return memberName && !isShared ? memberName : memberEmail
}
