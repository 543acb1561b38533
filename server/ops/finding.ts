import type { Concern } from "./concerns.ts"

export interface Finding {
  about: string
  /** A `problem` prevents Tideline from working; a `warning` will, or makes it less secure. */
  state: "ok" | "warning" | "problem"
  /** The finding, and what to do about it. */
  text: string
}

export const ok = (about: string, text: string): Finding => ({ about, state: "ok", text })
export const warning = (about: string, text: string): Finding => ({ about, state: "warning", text })
export const problem = (about: string, text: string): Finding => ({ about, state: "problem", text })

/** What the operator's page says too, or `found` if there is nothing to do. */
export function concerned(about: string, concerns: readonly Concern[], found: string): Finding[] {
  if (concerns.length === 0) return [ok(about, found)]
  return concerns.map(({ state, what }) => ({
    about,
    state: state === "problem" ? "problem" : "warning",
    text: what.message,
  }))
}
