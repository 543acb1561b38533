import * as v from "valibot"
import { readBytes } from "./body.ts"

/** Bytes: enough for a form of text fields. Files travel another way. */
const FORM_LIMIT = 64 * 1024

export type FormErrors<Input> = Partial<Record<Extract<keyof Input, string> | "form", string>>

export type FormBody<Schema extends v.GenericSchema> =
  | { ok: true; value: v.InferOutput<Schema> }
  | {
      ok: false
      status: 400 | 413
      /** The first thing wrong with each field; `form` holds what is wrong with the whole. */
      errors: FormErrors<v.InferInput<Schema>>
      /** What was typed, to show it again; never a password. */
      values: Record<string, string>
    }

/** Parses a posted form. Its fields are texts: an uploaded file among them is left out, and of a repeated name the last counts. */
export async function readForm<Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
): Promise<FormBody<Schema>> {
  const bytes = await readBytes(request, FORM_LIMIT)
  if (!bytes) return refused(413, { form: "This is more than the form can take." })

  const fields = await parseFields(bytes, request.headers.get("content-type"))
  if (!fields) return refused(400, { form: "This is not a form." })

  const parsed = v.safeParse(schema, fields)
  if (parsed.success) return { ok: true, value: parsed.output }
  const shown = Object.entries(fields).filter(([name]) => !/password/i.test(name))
  return refused(400, describeIssues(parsed.issues), Object.fromEntries(shown))
}

async function parseFields(bytes: Uint8Array<ArrayBuffer>, contentType: string | null) {
  try {
    const form = await new Response(bytes, { headers: { "content-type": contentType ?? "" } }).formData()
    return Object.fromEntries(
      [...form].filter((field): field is [string, string] => typeof field[1] === "string"),
    )
  } catch {
    return null
  }
}

function describeIssues(issues: readonly v.BaseIssue<unknown>[]): Record<string, string> {
  const errors: Record<string, string> = {}
  for (const { type, path, message } of issues) {
    const field = path?.[0]?.key
    // A field that was not posted is the object's fault, and the object speaks of keys.
    const words = field !== undefined && type.endsWith("object") ? "This is missing." : message
    errors[typeof field === "string" ? field : "form"] ??= words
  }
  return errors
}

function refused(status: 400 | 413, errors: Record<string, string>, values: Record<string, string> = {}) {
  // The names come from the schema, so they are among the schema's names.
  return { ok: false as const, status, errors: errors as FormErrors<never>, values }
}
