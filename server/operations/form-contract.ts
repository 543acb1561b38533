import type { RefusalData } from "#server/refusal-contract.ts"

/** The fields of a form besides those of its operation's input. */
export const OPERATION = "$operation"
/** What of the input the form does not ask for, as JSON. */
export const VALUES = "$values"
/** The page that follows, with names for values of the output: `/s/:slug`. */
export const NEXT = "$next"

/** What came of a form. */
export interface FormOutcome {
  /** Empty for a form that could not be read, or that is no longer on the page. */
  operation: string
  values: string
  /** What was filled in, to show it again; never a password. */
  filled?: Record<string, string>
  /** By field; `form` has the problem of the whole form. */
  errors?: Partial<Record<string, RefusalData>>
  output?: unknown
}

/** The operation's input, which no schema has checked. Throws for a form that is none of ours. */
export function inputIn(form: FormData): unknown {
  const asked = [...form].filter(([name]) => !name.startsWith("$"))
  const values: unknown = JSON.parse(textOf(form.get(VALUES)))
  return { ...(typeof values === "object" ? values : {}), ...Object.fromEntries(asked) }
}

/** The page that follows. */
export function nextPage(pattern: string, output: unknown): string {
  const values = new Map<string, unknown>(Object.entries(output ?? {}))
  return pattern.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(values.get(name))))
}

export function textOf(field: FormDataEntryValue | null | undefined): string {
  return typeof field === "string" ? field : ""
}
