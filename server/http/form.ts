import * as v from "valibot"
import { dataOfIssue, dataOfReason } from "#server/errors.ts"
import type { RefusalData } from "#server/refusal-contract.ts"
import { isStorable } from "#live/contract"
import { readBytes } from "#server/transport/body.ts"

/** Bytes: enough for a form of text fields. Files are sent differently. */
const FORM_LIMIT = 64 * 1024

const TOO_LARGE = dataOfReason("form-too-large")
const UNREADABLE = dataOfReason("form-unreadable")
const MISSING = dataOfReason("field-missing")

export type FormErrors<Input> = Partial<Record<Extract<keyof Input, string> | "form", RefusalData>>

export type FormBody<Schema extends v.GenericSchema> =
  | { ok: true; value: v.InferOutput<Schema> }
  | {
      ok: false
      status: 400 | 413
      /** The first problem of each field; `form` has problems of the whole form. */
      errors: FormErrors<v.InferInput<Schema>>
      /** The submitted values, to show them again; never a password or a code. */
      values: Record<string, string>
    }

/** The one small file that a form accepts beside its text fields. */
export interface FormFile {
  field: string
  /** Bytes. */
  limit: number
  /** Why a larger one is refused. */
  tooLarge: "picture-too-large"
}

/**
 * Parses a posted form. Its fields are texts: files are ignored, except the requested one, and the
 * last of repeated fields counts.
 */
export async function readForm<Schema extends v.GenericSchema>(
  request: Request,
  schema: Schema,
  file?: FormFile,
): Promise<FormBody<Schema>> {
  const form = await readFormData(request, file)
  if (!(form instanceof FormData)) return refused(form.status, form.errors)
  const parsed = v.safeParse(schema, Object.fromEntries(form))
  if (parsed.success) return { ok: true, value: parsed.output }
  return refused(400, describeIssues(parsed.issues), filledIn(form, schema))
}

/** The fields of a posted form that hold what the database can store, or why they could not be read. */
export async function readFormData(request: Request, file?: FormFile) {
  const bytes = await readBytes(request, FORM_LIMIT + (file?.limit ?? 0))
  if (!bytes && file) return unread(413, { [file.field]: dataOfReason(file.tooLarge) })
  if (!bytes) return unread(413, { form: TOO_LARGE })
  const form = await parseFields(bytes, request.headers.get("content-type"), file)
  return form && isStorable(Object.fromEntries(form)) ? form : unread(400, { form: UNREADABLE })
}

async function parseFields(bytes: Uint8Array<ArrayBuffer>, contentType: string | null, file?: FormFile) {
  try {
    const form = await new Response(bytes, { headers: { "content-type": contentType ?? "" } }).formData()
    // A browser sends an empty file for a field without a file.
    const ignored = [...form].filter(
      ([name, value]) => typeof value !== "string" && (name !== file?.field || value.size === 0),
    )
    for (const [name] of ignored) form.delete(name)
    return form
  } catch {
    return null
  }
}

function unread(status: 400 | 413, errors: Record<string, RefusalData>) {
  return { status, errors }
}

/** What somebody filled in, to show it again: texts, and no secret of the form's schema. */
export function filledIn(form: FormData, schema: v.GenericSchema): Record<string, string> {
  const secrets = secretsIn(schema)
  return Object.fromEntries(
    [...form].filter(
      (field): field is [string, string] => typeof field[1] === "string" && !secrets.includes(field[0]),
    ),
  )
}

function secretsIn(schema: v.GenericSchema): string[] {
  const { options = [], entries = {} } = schema as { options?: v.GenericSchema[]; entries?: v.ObjectEntries }
  const own = Object.entries(entries).filter(([, field]) => {
    const inside = "wrapped" in field ? field.wrapped : field
    return v.getMetadata(inside)["isSecret"] === true
  })
  return [...own.map(([name]) => name), ...options.flatMap(secretsIn)]
}

export function describeIssues(issues: readonly v.BaseIssue<unknown>[]): Record<string, RefusalData> {
  const errors: Record<string, RefusalData> = {}
  for (const issue of issues) {
    const field = issue.path?.[0]?.key
    // For a missing field the issue comes from the object's schema, whose message is about keys.
    const error = field !== undefined && issue.type.endsWith("object") ? MISSING : dataOfIssue(issue)
    errors[typeof field === "string" ? field : "form"] ??= error
  }
  return errors
}

function refused(
  status: 400 | 413,
  errors: Record<string, RefusalData>,
  values: Record<string, string> = {},
) {
  // The names come from the schema, so they are its keys.
  return { ok: false as const, status, errors: errors as FormErrors<never>, values }
}
