import { exportAccount } from "#server/accounts/export.ts"
import { requireScope } from "#server/http/scope.ts"
import type { Route } from "./+types/export.ts"

export async function loader({ context }: Route.LoaderArgs) {
  return exportAccount(await requireScope(context))
}
