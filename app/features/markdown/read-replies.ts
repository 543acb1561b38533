import type { ReplyPart } from "#server/chat/contract.ts"
import { createBlockReader } from "./blocks.ts"
import type { Budget } from "./budget.ts"
import type { Readings } from "./readings.ts"
import type { Block } from "./tokens.ts"
import { renderInTurns } from "./turns.tsx"
import { weigh, weighText } from "./weights.ts"

interface Said {
  role: "user" | "assistant"
  parts: readonly ReplyPart[]
  status?: string | null | undefined
}

/** Elements of all replies of a page. */
const MOST_ELEMENTS = 3_500

/** Elements of one reply: some of its blocks are only put together once it has been parsed. */
const MOST_OF_ONE = 1_500

/** Weight after which a page shows further replies as they were written. */
const HEAVIEST = 3_500

/** Characters of a reply beyond the budget of its page that the browser still parses. */
const LEFT_TO_BROWSER = 8_000

/** Weight of a page that is rendered in one step. */
const MOST_AT_ONCE = 1_000

/** Weight of a block. Each is rendered in one step. */
const LARGEST_BLOCK = 1_200

/** Milliseconds for all replies of a page. */
const LONGEST_TIME = 300

/** Milliseconds for one reply. */
const LONGEST_STEP = 30

/** Milliseconds after which others get their turn. */
const SLICE = 8

/**
 * Parses the replies of a conversation for the page that shows them, the latest first. What exceeds
 * the budget of the page is shown as it was written. Others get their turn in between, because one
 * person may have written all of it for everybody to open.
 */
export async function readReplies(bubbles: readonly Said[]): Promise<Readings> {
  const readings = new Map<string, readonly Block[] | null>()
  let elements = MOST_ELEMENTS
  let spent = 0
  let slice = 0
  let weight = bubbles.reduce((sum, { role, parts }) => (role === "user" ? sum + weighParts(parts) : sum), 0)
  for (const { text, isGrowing } of textsOf(bubbles)) {
    if (readings.has(text)) continue
    const begun = processorTime()
    const own = Math.min(elements, MOST_OF_ONE)
    const budget: Budget = { elements: own, until: begun + LONGEST_STEP, now: processorTime }
    const isAffordable = elements > 0 && spent < LONGEST_TIME
    if (!isAffordable && text.length < LEFT_TO_BROWSER) continue
    const blocks = isAffordable ? createBlockReader().read(text, { isGrowing, budget }) : null
    const shown = blocks && withinWeight(blocks, HEAVIEST - weight)
    readings.set(text, shown?.blocks ?? null)
    weight += (shown?.weight ?? 0) + weighText(text)
    elements = weight < HEAVIEST ? Math.max(0, elements - own + budget.elements) : 0
    const took = processorTime() - begun
    spent += took
    slice += took
    if (slice < SLICE) continue
    slice = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (weight > MOST_AT_ONCE) renderInTurns(readings)
  await new Promise((resolve) => setImmediate(resolve))
  return readings
}

function weighParts(parts: readonly ReplyPart[]) {
  return parts.reduce((sum, part) => ("text" in part ? sum + weighText(part.text) : sum), 0)
}

function textsOf(bubbles: readonly Said[]) {
  return bubbles
    .toReversed()
    .flatMap(({ role, parts, status }) =>
      parts.flatMap((part, place) =>
        role === "assistant" && part.type === "text"
          ? [{ text: part.text, isGrowing: status === "running" && place === parts.length - 1 }]
          : [],
      ),
    )
}

/** Milliseconds of this thread: a busy machine changes nothing. Older versions of Node have no such clock. */
function processorTime(): number {
  if (!("threadCpuUsage" in process)) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** What is too heavy, and what follows once the page is, is shown as it was written. */
function withinWeight(blocks: readonly Block[], most: number) {
  const shown: Block[] = []
  let weight = 0
  for (const [at, block] of blocks.entries()) {
    if (weight > most) {
      shown.push({ type: "plain", text: blocks.slice(at).map(sourceOf).join("") })
      break
    }
    const own = weigh(block)
    const isTooLarge = own > LARGEST_BLOCK && block.type !== "codeBlock"
    shown.push(isTooLarge ? { type: "plain", text: sourceOf(block) } : withoutSource(block))
    weight += isTooLarge ? 1 : own
  }
  return { blocks: shown, weight }
}

function sourceOf(block: Block) {
  return block.raw ?? ("text" in block ? block.text : "")
}

/** Nothing else shows the source of a block, and the page would carry every word twice. */
function withoutSource(block: Block): Block {
  const { raw: _, ...shown } = block
  return shown
}
