export interface Finding {
  about: string
  /** A `problem` keeps Tideline from working; a `warning` will, or weakens it. */
  state: "ok" | "warning" | "problem"
  /** What was found, and what to do about it. */
  text: string
}

export const ok = (about: string, text: string): Finding => ({ about, state: "ok", text })
export const warning = (about: string, text: string): Finding => ({ about, state: "warning", text })
export const problem = (about: string, text: string): Finding => ({ about, state: "problem", text })

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
