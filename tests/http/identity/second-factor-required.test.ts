import { expect, test } from "vitest"
import { addPasskey, askForChallenge, enterWith } from "../../support/passkeys.ts"
import { ada, postJson, signIn, signUp } from "../../support/people.ts"
import { addSecondFactor } from "../../support/second-factor.ts"
import { withTideline } from "../../support/with-tideline.ts"

const { app, sql } = withTideline({ settings: { SECOND_FACTOR: "required" } })

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

test("with SECOND_FACTOR=required a passkey is enough, and is asked for after a password", async () => {
  const person = await signUp(app, { name: "Joan", email: "joan@example.org" })
  const phone = await addSecondFactor(person, person.password)
  await person("/onboarding")
  await sql`update users set onboarding_completed = true`
  const passkey = await addPasskey(app, person)
  const proof = { password: person.password, code: phone.recoveryCodes[0] }
  expect((await postJson(person, "/api/auth/two-factor/disable", proof)).status).toBe(200)

  const byPassword = await signIn(app, person)
  expect((await byPassword("/api/files")).status).toBe(403)
  expect(await (await byPassword("/second-factor")).text()).toContain("Use your passkey")
  await enterWith(byPassword, passkey.assert(await askForChallenge(byPassword)))
  expect((await byPassword("/api/files")).status).toBe(200)
})

test("with SECOND_FACTOR=required the recovery codes count only once the app has shown a code", async () => {
  const person = await signUp(app, { name: "Mary", email: "mary@example.org" })
  const { password } = person
  const begun = await postJson(person, "/api/auth/two-factor/enable", { password })
  const { backupCodes } = (await begun.json()) as { backupCodes: string[] }
  const code = backupCodes[0] ?? ""
  const shown = await postJson(person, "/api/auth/two-factor/verify-backup-code", { code })
  expect(shown.status).toBe(401)
  expect((await person("/api/files")).status).toBe(403)
})

test("with SECOND_FACTOR=required somebody who cannot set one up can sign out", async () => {
  const person = await signUp(app, { name: "Grace", email: "grace@example.org" })
  const out = await person("/sign-out", { method: "POST" })
  expect([out.status, out.headers.get("location")]).toEqual([303, "/"])
})
