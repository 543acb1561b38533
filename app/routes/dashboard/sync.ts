import { json } from "#server/transport/json.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import { CreateOrUpdateUser } from "#server/users/contract.ts"
import { createOrUpdateUser } from "#server/users/users.ts"
import { parseBody } from "#app/routes/api/parse-body.ts"
import type { Route } from "./+types/sync.ts"

export const middleware: Route.MiddlewareFunction[] = [allowMethods("POST")]

/** `users.createOrUpdateUser` for the sync of an open page. */
export async function action({ context, request }: Route.ActionArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const body = await parseBody(request, CreateOrUpdateUser)
    if (body instanceof Response) return body
    const {
      language: _language,
      notifiesInApp: _inApp,
      notifiesByEmail: _byEmail,
      ...record
    } = await createOrUpdateUser(scope, body)
    return json(record)
  })
}
