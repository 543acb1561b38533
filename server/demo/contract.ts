import * as v from "valibot"

/** The states of a boat, in order. */
export const STATES = ["at sea", "coming in", "moored"] as const

export type BoatState = (typeof STATES)[number]

export interface Boat {
  name: string
  state: BoatState
  lamp: boolean
}

/** The boats in their initial state. */
export const BOATS = [
  { name: "Petrel", state: "coming in", lamp: true },
  { name: "Fulmar", state: "at sea", lamp: false },
  { name: "Grey Seal", state: "moored", lamp: false },
  { name: "Turnstone", state: "at sea", lamp: true },
] as const satisfies readonly Boat[]

/**
 * A visitor's change. Every value is chosen from a list, so that nobody can send text to other
 * visitors.
 */
export const MoveBoat = v.object({
  boat: v.picklist(BOATS.map(({ name }) => name)),
  state: v.optional(v.picklist(STATES)),
  lamp: v.optional(v.picklist(["on", "off"])),
})

export type MoveBoat = v.InferOutput<typeof MoveBoat>

/** A boat's next state: after it is moored it goes out again. */
export function nextState(state: BoatState): BoatState {
  return STATES[(STATES.indexOf(state) + 1) % STATES.length] ?? "at sea"
}
