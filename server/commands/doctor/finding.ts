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

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
