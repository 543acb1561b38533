import { streamThreadShare } from "#server/chat/share-stream.ts"
import { allowMethods } from "#server/http/methods.ts"
import { servicesOf } from "#server/http/scope.ts"
import { networkIn } from "#server/http/visit.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import type { Route } from "./+types/events.ts"

export const handle = { credential: "none" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET")]

/** Says when a shared conversation has changed, as server-sent events. */
export function loader({ context, params, request }: Route.LoaderArgs) {
  return answerRefusals(async () => {
    const visit = { request, network: networkIn(context) }
    const stream = await streamThreadShare(servicesOf(context), params.token, visit)
    return new Response(stream, {
      headers: {
        "Content-Type": "text/event-stream",
        "Cache-Control": "no-store",
        "X-Accel-Buffering": "no",
      },
    })
  })
}
