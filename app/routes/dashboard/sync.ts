import * as v from "valibot"
import { badInput } from "#server/errors.ts"
import { bodyTooLarge, json, readJson } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals, refusalBody } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import { CreateOrUpdateUser } from "#server/users/contract.ts"
import { createOrUpdateUser } from "#server/users/users.ts"
import type { Route } from "./+types/sync.ts"

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

/** `users.createOrUpdateUser` for the sync of an open page. */
export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  const body = await readJson(request)
  if (!body.ok)
    return body.status === 413 ? bodyTooLarge() : json({ error: "Invalid JSON body" }, { status: 400 })
  const input = v.safeParse(CreateOrUpdateUser, body.value)
  if (!input.success) return json(refusalBody(badInput(input.issues)), { status: 400 })
  return answerRefusals(async () => {
    const {
      language: _language,
      notifiesInApp: _inApp,
      notifiesByEmail: _byEmail,
      ...record
    } = await createOrUpdateUser(scope, input.output)
    return json(record)
  })
}
