import { beforeEach } from "vitest"
import { openFileDrawer, type FileDrawer } from "./file-drawer.ts"
import { lazily } from "./lazily.ts"
import { withResource } from "./with-resource.ts"

export type Owner = Awaited<ReturnType<FileDrawer["scopeOf"]>>

/**
 * Gives the tests of this file a file drawer with these settings, and people, each by their name and
 * with their plan. Before each test it is emptied, and the people are made again. Call it at the top of
 * the file, before its own hooks.
 */
export function withDrawer<Name extends string = never>({
  settings = {},
  people,
}: {
  settings?: Record<string, string>
  people?: Record<Name, "free" | "pro">
} = {}): { drawer: FileDrawer } & Record<Name, Owner> {
  const drawer = withResource(() => openFileDrawer(settings))
  const plans = Object.entries<"free" | "pro">(people ?? {})
  const owners = new Map<string, Owner>()
  beforeEach(async () => {
    await drawer.empty()
    for (const [name, plan] of plans) owners.set(name, await drawer.scopeOf(name, plan))
  })
  const named = plans.map(([name]) => [name, lazily(() => owners.get(name))] as const)
  return { drawer, ...(Object.fromEntries(named) as Record<Name, Owner>) }
}
