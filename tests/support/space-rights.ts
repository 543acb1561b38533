import type { Standing } from "./space-content.ts"

/** A refusal for want of a role by its reason. */
export type Answer = "ok" | "conflict" | "space-reader" | "space-owner-only" | "not_found"
export type Answers = Record<Standing, Answer>

/** Who is answered how; people who are not members are answered alike, whether they were or not. */
function answers(owner: Answer, editor: Answer, reader: Answer, others: Answer): Answers {
  return { owner, editor, reader, removed: others, outsider: others }
}

export const MEMBERS = answers("ok", "ok", "ok", "not_found")
export const EDITORS = answers("ok", "ok", "space-reader", "not_found")
export const OWNER = answers("ok", "space-owner-only", "space-owner-only", "not_found")
/** What only the owner sees, so that for everybody else it does not exist. */
export const OWNER_ALONE = answers("ok", "not_found", "not_found", "not_found")
/** The editor alone has written in it, so that only they may have it for themselves. */
export const AUTHOR = answers("conflict", "ok", "space-reader", "not_found")
export const LEAVING = answers("conflict", "ok", "ok", "not_found")
/** The editor alone, because they began it. */
export const BEGINNER = answers("not_found", "ok", "not_found", "not_found")
/** Everybody is answered with what is theirs. */
export const EVERYONE = answers("ok", "ok", "ok", "ok")
/** Asked for several at once: those that the caller may not see are skipped. */
export const SKIPPING = answers("ok", "ok", "space-reader", "ok")
/** Into the space, of what is personal to somebody else. */
export const TAKING = answers("not_found", "not_found", "space-reader", "not_found")
/** It is addressed to somebody else. */
export const NOBODY = answers("not_found", "not_found", "not_found", "not_found")

/** What those who may are answered where there is nothing. */
export function ofNothing(usual: Answers): Answers {
  const answered = Object.entries(usual).map(([who, answer]) => [who, answer === "ok" ? "not_found" : answer])
  return Object.fromEntries(answered) as Answers
}
