import { Trans } from "@lingui/react/macro"
import { Fragment, memo, useState } from "react"
import { classNames } from "#app/ui/class-names.ts"
import type { Bubble } from "./bubbles.ts"
import { Message, type MessageProps } from "./message.tsx"

const SIZE = 20

/** This many messages at the end are always laid out. */
const LAID_OUT = 8

export interface Block {
  number: number
  bubbles: Bubble[]
  /** Far from the end: the browser can skip its layout until it scrolls into view. */
  isOld: boolean
}

/**
 * Groups the messages into blocks, because the browser keeps checking every element with
 * `content-visibility: auto`: with two thousand of them it drops frames. A message stays in its
 * block when others come before or after, because moving it would render it again.
 */
export function useBlocks(bubbles: Bubble[]): Block[] {
  const [anchor] = useState(bubbles[0]?.key)
  const first = Math.max(
    0,
    bubbles.findIndex(({ key }) => key === anchor),
  )
  const placed = bubbles.map((bubble, place) => ({ bubble, place }))
  const blocks = Map.groupBy(placed, ({ place }) => Math.floor((place - first) / SIZE))
  return Array.from(blocks, ([number, members]) => ({
    number,
    bubbles: members.map(({ bubble }) => bubble),
    isOld: members.every(({ place }) => place < bubbles.length - LAID_OUT),
  }))
}

interface MessageBlockProps extends Pick<
  MessageProps,
  "onEdit" | "onAgain" | "onAskAbout" | "peopleOnly" | "threadId"
> {
  block: Block
  /** The last message of the conversation. */
  last: Bubble | undefined
  /** Set for the block that holds the message being edited. */
  editing: MessageProps["editing"]
  /** The first message that the model received, if it is in this block and not the first of all. */
  sentFrom: string | null
}

/** Renders again only when one of its messages has changed. */
export const MessageBlock = memo(function MessageBlock({
  block: { bubbles, isOld },
  last,
  editing,
  sentFrom,
  ...acts
}: MessageBlockProps) {
  return (
    <div
      className={classNames(
        "space-y-4",
        isOld && "[contain-intrinsic-size:auto_280rem] [content-visibility:auto]",
      )}
    >
      {bubbles.map((bubble) => (
        <Fragment key={bubble.key}>
          {sentFrom !== null && bubble.id === sentFrom ? <SentFrom /> : null}
          <Message
            bubble={bubble}
            isLast={bubble === last}
            editing={editing?.messageId === bubble.id ? editing : null}
            {...acts}
          />
        </Fragment>
      ))}
    </div>
  )
}, isSame)

/** Where what is sent to the model begins. */
function SentFrom() {
  return (
    <p className="flex items-center gap-3 py-2 text-center text-xs text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      <Trans>Earlier messages are no longer sent to the model</Trans>
    </p>
  )
}

/** The id of the first message that the model received for its latest reply; null for all. */
export function findSentFrom(bubbles: readonly Bubble[]): string | null {
  const latest = bubbles.findLast(({ role, status }) => role === "assistant" && status !== "running")
  return latest?.recall?.from ?? null
}

function isSame(before: MessageBlockProps, after: MessageBlockProps): boolean {
  const { block: one, last: lastOfOne, ...restOfOne } = before
  const { block: other, last: lastOfOther, ...restOfOther } = after
  return (
    one.isOld === other.isOld &&
    one.bubbles.length === other.bubbles.length &&
    one.bubbles.every((bubble, place) => bubble === other.bubbles[place]) &&
    one.bubbles.includes(lastOfOne as Bubble) === other.bubbles.includes(lastOfOther as Bubble) &&
    Object.entries(restOfOne).every(
      ([name, value]) => restOfOther[name as keyof typeof restOfOther] === value,
    )
  )
}
