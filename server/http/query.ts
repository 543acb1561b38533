import * as v from "valibot"
import { badInput, BadRequest, dataOfIssue } from "#server/errors.ts"
import { type FieldsSchema, findUnknownField, type InputSchema, listed } from "#live/check"

export type { FieldsSchema, InputSchema }

/** The parameters in the URL of an API request. Throws `BadRequest`, which names what is wrong with one. */
export function queryOf<Schema extends FieldsSchema>(
  { url }: Pick<Request, "url">,
  schema: Schema,
): v.InferOutput<Schema> {
  const { searchParams } = new URL(url)
  const asked = Object.fromEntries(searchParams)
  const parsed = v.safeParse(schema, asked, { abortEarly: true })
  if (!parsed.success) throw badQuery(parsed.issues, schema, asked)
  if (searchParams.size === Object.keys(asked).length) return parsed.output
  const parameter = [...searchParams.keys()].find((name) => searchParams.getAll(name).length > 1) ?? ""
  throw new BadRequest("parameter-repeated", { parameter })
}

/** The parameters in the URL of a page: one that the schema does not accept is as if it were not there. */
export function pageQueryOf<Schema extends FieldsSchema>(
  { entries }: Schema,
  asked: Readonly<Record<string, string | undefined>>,
): v.InferOutput<Schema> {
  const fit = Object.entries(asked).filter(([name, value]) => {
    const entry = Object.hasOwn(entries, name) ? entries[name] : undefined
    return entry !== undefined && v.is(entry, value)
  })
  return v.parse(v.strictObject(entries), Object.fromEntries(fit)) as v.InferOutput<Schema>
}

function badQuery(
  issues: [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]],
  schema: FieldsSchema,
  asked: Record<string, string>,
) {
  const unknown = findUnknownField(schema, asked)
  if (unknown?.meant !== undefined) return new BadRequest("parameter-misspelt", unknown)
  if (unknown) return new BadRequest("parameter-unknown", { ...unknown, known: listed(unknown.known) })
  const [issue] = issues
  const isListed = dataOfIssue(issue).reason === undefined && issue.expected?.includes('"')
  if (!isListed) return badInput(issues)
  // `("newest" | "oldest")`
  const allowed = issue.expected?.replaceAll(/[()"]/g, "").split(" | ") ?? []
  return new BadRequest("parameter-unfit", {
    parameter: String(issue.path?.[0]?.key),
    allowed: allowed.join(", "),
  })
}
