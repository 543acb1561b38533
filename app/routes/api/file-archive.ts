import { archiveFiles } from "#server/files/archive.ts"
import { ArchiveFiles } from "#server/files/acts-contract.ts"
import { readBytes } from "#server/transport/body.ts"
import { bodyTooLarge } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import { fitting } from "#server/http/parse-body.ts"
import type { Route } from "./+types/file-archive.ts"

export const handle = { credential: "key", scope: "files:read" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

/** Bytes: a thousand ids in the most verbose encoding. */
const LIMIT = 256 * 1024

export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const bytes = await readBytes(request, LIMIT)
    if (!bytes) return bodyTooLarge({}, LIMIT)
    const selection = await readSelection(bytes, request.headers.get("content-type"))
    return archiveFiles(scope, fitting(ArchiveFiles, selection))
  })
}

/**
 * Accepts a form, so that the browser saves the response itself: `ids` once per file, or `all` and
 * beside it the fields of what matches. Accepts the same as JSON.
 */
async function readSelection(bytes: Uint8Array<ArrayBuffer>, contentType: string | null): Promise<unknown> {
  try {
    if (!/^(multipart\/form-data|application\/x-www-form-urlencoded)/i.test(contentType ?? ""))
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    const form = await new Response(bytes, { headers: { "content-type": contentType ?? "" } }).formData()
    const { all, ids, except, ...rest } = fieldsOf(form)
    if (all === undefined) return { ...rest, ids: ids ?? [] }
    const until = rest["until"]?.[0]
    const matching = {
      ...Object.fromEntries(Object.entries(rest).map(([name, [value]]) => [name, value])),
      ...(until !== undefined && { until: Number(until) }),
      ...(except && { except }),
    }
    return { all: matching, ...(ids && { ids }) }
  } catch {
    return null
  }
}

function fieldsOf(form: FormData): Record<string, string[]> {
  const names = [...new Set(form.keys())]
  return Object.fromEntries(
    names.map((name) => [name, form.getAll(name).filter((value) => typeof value === "string")]),
  )
}
