import { Fragment, use, useContext, type ReactNode } from "react"
import { inOrder } from "./in-order.tsx"
import { ReadingsContext, type Readings } from "./readings.ts"
import type { Block } from "./tokens.ts"
import { weigh } from "./weights.ts"

/** Weight of what is rendered before others get their turn. */
const STEP = 300

type Turns = (weight: number) => Promise<void>

/** Only on the server, which renders for everybody. */
const turnsOf = new WeakMap<Readings, Turns>()

/** Lets others get their turn while a page with these is rendered. */
export function renderInTurns(readings: Readings) {
  let turn = Promise.resolve()
  let weight = 0
  turnsOf.set(readings, (more) => {
    weight += more
    if (weight > STEP) {
      weight = more
      turn = turn.then(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return turn
  })
}

export function isRenderedInTurns(readings: unknown): boolean {
  return readings instanceof Map && turnsOf.has(readings)
}

/**
 * Renders its children when it is their turn. No boundary surrounds it, so that the page arrives as a
 * whole and can be read without scripts.
 */
export function InTurn({ weight, children }: { weight: number; children: ReactNode }) {
  const turns = turnsOf.get(useContext(ReadingsContext))
  if (turns) use(turns(weight))
  return children
}

interface BlocksInTurnProps {
  blocks: readonly Block[]
  render: (block: Block, place: number) => ReactNode
}

/** A few blocks in each turn, because waiting has its price. */
export function BlocksInTurn({ blocks, render }: BlocksInTurnProps) {
  const isInTurns = turnsOf.has(useContext(ReadingsContext))
  if (!isInTurns) return inOrder(blocks, render)
  const groups: { weight: number; rendered: ReactNode[] }[] = []
  for (const [place, block] of blocks.entries()) {
    const weight = weigh(block)
    const last = groups.at(-1)
    const rendered = <Fragment key={place}>{render(block, place)}</Fragment>
    if (last && last.weight + weight <= STEP) {
      last.rendered.push(rendered)
      last.weight += weight
    } else groups.push({ weight, rendered: [rendered] })
  }
  return inOrder(groups, ({ weight, rendered }) => <InTurn weight={weight}>{rendered}</InTurn>)
}
