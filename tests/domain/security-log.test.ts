import { eq } from "drizzle-orm"
import { expect, it } from "vitest"
import { authUser } from "#db/schema/auth.ts"
import { authSecurityEvent } from "#db/schema/security.ts"
import { recordSecurityEvent } from "#server/accounts/security-log.ts"
import { shareChatServices } from "../support/chat-services.ts"

const { ada } = await shareChatServices()

it("records five failed sign-ins of an account in an hour, also of those at the same moment", async () => {
  const { db } = ada
  await db.insert(authUser).values({ id: "ada", name: "Ada", email: "ada@example.org" })
  const fail = () => recordSecurityEvent(ada, { userId: "ada", event: "sign-in-failed", from: null })
  await Promise.all(Array.from({ length: 20 }, fail))
  expect(await db.$count(authSecurityEvent, eq(authSecurityEvent.userId, "ada"))).toBe(5)
})
