import { allowMethods } from "#server/http/methods.ts"
import { queryOf } from "#server/http/query.ts"
import { requireScope } from "#server/http/scope.ts"
import { NotificationsQuery } from "#server/notifications/contract.ts"
import { listNotifications } from "#server/notifications/notifications.ts"
import { json } from "#server/transport/json.ts"
import { NOT_KEPT } from "./parse-body.ts"
import type { Route } from "./+types/notifications.ts"

export const handle = { credential: "key", scope: "spaces" }

export const middleware: Route.MiddlewareFunction[] = [
  allowMethods({ GET: NotificationsQuery, HEAD: NotificationsQuery }),
]

export async function loader({ context, request }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  const query = queryOf(request, NotificationsQuery)
  return json(await listNotifications(scope, query), { headers: NOT_KEPT })
}
