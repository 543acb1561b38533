import { findMentions } from "#server/notifications/mention-contract.ts"

/** The name after an @ by which the model is asked in a space, in every language. */
export const ASSISTANT = "Assistant"

/** Whom a message in a space is to. */
export interface Addressee {
  /** The model replies to it. */
  asksModel: boolean
  /** The name of the member with whose mention it opens. */
  name: string | null
}

/**
 * A message that names the assistant asks the model. Any other asks nobody if it opens with the
 * mention of a member, or if its conversation is for people only. `names` are the members'.
 */
export function addresseeOf(text: string, names: Iterable<string>, peopleOnly: boolean): Addressee {
  const found = findMentions(text, [ASSISTANT, ...names])
  if (found.some(({ name }) => name === ASSISTANT)) return { asksModel: true, name: null }
  const [first] = found
  const opens = first !== undefined && text.slice(0, first.from).trim() === ""
  return { asksModel: !opens && !peopleOnly, name: opens ? first.name : null }
}
