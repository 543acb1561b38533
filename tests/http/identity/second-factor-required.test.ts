import { afterAll, beforeAll, expect, test } from "vitest"
import { startTideline, type TidelineApp } from "../../support/app.ts"
import { ada, postJson, signUp } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"

let app: TidelineApp
beforeAll(async () => {
  app = await startTideline({ SECOND_FACTOR: "required" })
})
afterAll(() => app.stop())

test("with SECOND_FACTOR=required nothing opens before a second factor is set up", async () => {
  const person = await signUp(app, ada)
  const page = await person("/dashboard/files?q=x")
  expect([page.status, page.headers.get("location")]).toEqual([
    302,
    "/second-factor?redirect_url=%2Fdashboard%2Ffiles%3Fq%3Dx",
  ])
  for (const path of ["/api/files", "/api/realtime/token"]) expect((await person(path)).status).toBe(403)
  expect((await person("/api/files?name=x.txt", { method: "POST", body: "x" })).status).toBe(403)
  expect((await postJson(person, "/api/auth/api-key/create", { name: "key" })).status).toBe(403)
  expect((await person("/")).status).toBe(200)
  expect(await (await person("/second-factor")).text()).toContain("Set up two-factor authentication")

  await addSecondFactor(person, person.password)
  expect((await person("/api/files")).status).toBe(200)
  expect(
    (
      await fetch(`${app.origin}/api/files`, {
        headers: { authorization: `Bearer ${await person.apiKey()}` },
      })
    ).status,
  ).toBe(200)
})

test("with SECOND_FACTOR=required somebody who cannot set one up can sign out", async () => {
  const person = await signUp(app, { name: "Grace", email: "grace@example.org" })
  const out = await person("/sign-out", { method: "POST" })
  expect([out.status, out.headers.get("location")]).toEqual([303, "/"])
})
