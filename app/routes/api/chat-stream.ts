import { resumeReply } from "#server/chat/resume.ts"
import { streamResponse } from "#server/chat/stream-response.ts"
import { allowMethods } from "#server/http/methods.ts"
import { answerRefusals } from "#server/transport/refusals.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/chat-stream.ts"

export const handle = { credential: "key", scope: "chat" }

export const middleware: Route.MiddlewareFunction[] = [allowMethods("GET")]

/** The AI SDK's `resumeStream()` requests the running reply here, and takes 204 to mean none. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const scope = await requireScope(context)
  return answerRefusals(async () => {
    const answer = await resumeReply(scope, params.threadId)
    if (!answer) return new Response(null, { status: 204 })
    return streamResponse(answer.chunks, { headers: {}, leave: answer.leave })
  })
}
