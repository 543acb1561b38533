import { useLingui } from "@lingui/react/macro"
import type { Role } from "#server/spaces/contract.ts"

/** What each role is called. */
export function useRoleNames(): Record<Role, string> {
  const { t } = useLingui()
  return { owner: t`Owner`, editor: t`Can edit`, reader: t`Can read` }
}
