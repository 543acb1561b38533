import { eq } from "drizzle-orm"
import { afterAll, beforeAll, expect, it } from "vitest"
import { authUser } from "#db/schema/auth.ts"
import { authSecurityEvent } from "#db/schema/security.ts"
import { recordSecurityEvent } from "#server/accounts/security-log.ts"
import { openChatServices } from "../support/chat-services.ts"

let chat: Awaited<ReturnType<typeof openChatServices>>
beforeAll(async () => {
  chat = await openChatServices()
})
afterAll(() => chat.close())

it("records five failed sign-ins of an account in an hour, also of those at the same moment", async () => {
  const { db, log, config } = await chat.scopeOf("ada")
  await db.insert(authUser).values({ id: "ada", name: "Ada", email: "ada@example.org" })
  const scope = { db, log, config }
  const fail = () => recordSecurityEvent(scope, { userId: "ada", event: "sign-in-failed", from: null })
  await Promise.all(Array.from({ length: 20 }, fail))
  expect(await db.$count(authSecurityEvent, eq(authSecurityEvent.userId, "ada"))).toBe(5)
})
