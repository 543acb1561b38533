import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { accountPageOperations } from "#server/accounts/page-operations-contract.ts"
import { userOperations } from "#server/users/operations-contract.ts"
import { formFor } from "../support/forms.ts"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { startClerk } from "../support/clerk.ts"
import { openBrowser, postJson } from "../support/people.ts"

describe("the dashboard, with Clerk as the provider", () => {
  let clerk: Awaited<ReturnType<typeof startClerk>>
  let app: TidelineApp
  beforeAll(async () => {
    clerk = await startClerk()
    app = await startTideline({
      ...clerk.settings,
    })
  })
  afterAll(async () => {
    await app?.stop()
    clerk?.close()
  })

  /** A browser in which a new person has signed in with Clerk. */
  async function enter(id: string) {
    const email = `${id}@example.org`
    clerk.users.set(`user_${id}`, { id: `user_${id}`, email, name: ["Ada", "Lovelace"], plan: "free" })
    const claims = {
      sub: `user_${id}`,
      sid: `sess_${id}`,
      v: 2,
      sts: "active",
      azp: app.origin,
      pla: "u:free",
    }
    const browser = openBrowser(app, { __session: await clerk.mint(claims), __client_uat: "1" })
    const truth = { clerkId: `user_${id}`, email, name: "Ada Lovelace", plan: "free" }
    return {
      browser,
      truth,
      sync: (claim: object) => postJson(browser, "/api/users/sync", { ...truth, ...claim }),
    }
  }

  it("leads to onboarding, and shows a loading state until Clerk's own code has the session", async () => {
    const { browser } = await enter("loading")
    const response = await browser("/dashboard")
    expect([response.status, response.headers.get("location")]).toEqual([302, "/onboarding"])
    const page = await browser("/onboarding")
    expect(page.status).toBe(200)
    const html = await page.text()
    expect(html).toContain("Loading your session")
    expect(html).not.toContain("Welcome aboard")
  })

  it("sends the name from the profile step to Clerk", async () => {
    const { browser, sync } = await enter("renamed")
    await browser("/onboarding", formFor(userOperations.finishOnboardingStep, { step: "welcome" }))
    await browser("/onboarding", formFor(accountPageOperations.finishProfile, { name: "Augusta Ada King" }))
    expect(clerk.users.get("user_renamed")?.name.join(" ")).toBe("Augusta Ada King")
    const written = await sync({ name: "Augusta Ada King" })
    expect(await written.json()).toMatchObject({ name: "Augusta Ada King", onboardingStep: "first-steps" })
  })

  it("changes the plan only once Clerk reports it, and then immediately", async () => {
    const { browser, sync } = await enter("upgraded")
    await browser("/onboarding")
    expect((await sync({ plan: "pro" })).status).toBe(403)
    const known = clerk.users.get("user_upgraded")
    if (known) known.plan = "pro"
    const written = await sync({ plan: "pro" })
    expect([written.status, await written.json()]).toMatchObject([200, { plan: "pro" }])
  })
})
