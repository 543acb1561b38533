import { refuseForms, requireOperatorScope } from "#server/http/operator-scope.ts"
import { streamTexts } from "#server/transport/text-stream.ts"
import { writeCsv } from "#server/waitlist/csv.ts"
import { eachPlace } from "#server/waitlist/waitlist.ts"
import type { Route } from "./+types/waitlist-export.ts"

export const action = refuseForms

export async function loader({ context }: Route.LoaderArgs) {
  const scope = await requireOperatorScope(context)
  return new Response(streamTexts(writeCsv(eachPlace(scope))), {
    headers: {
      "Cache-Control": "private, no-store",
      "Content-Disposition": 'attachment; filename="waitlist.csv"',
      "Content-Type": "text/csv; charset=utf-8",
    },
  })
}
