import { afterAll, beforeAll, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { openLiveSocket, realtimeToken } from "../support/live.ts"
import { startOpenIdProvider, type OpenIdProvider } from "../support/openid-provider.ts"
import { openBrowser, postJson, type Person } from "../support/people.ts"
import { findFreePort } from "../support/ports.ts"
import { createTestDatabase } from "../support/postgres.ts"
import { withResource } from "../support/with-resource.ts"

type Browser = ReturnType<typeof openBrowser>

const database = withResource(createTestDatabase)
let provider: OpenIdProvider
let here: TidelineApp
let there: TidelineApp
beforeAll(async () => {
  const port = await findFreePort()
  const origin = `http://localhost:${port}`
  provider = await startOpenIdProvider(origin)
  const env = { ...provider.env, DATABASE_URL: database.url, APP_URL: origin }
  here = await startTideline({ ...env, PORT: String(port) })
  there = { ...(await startTideline(env)) }
  there.origin = `http://127.0.0.1:${there.port}`
})
afterAll(async () => {
  await Promise.all([here.stop(), there.stop()])
  await provider.stop()
})

it("a person whom the provider signs out is off pages, sockets and keys of both processes", async () => {
  const [atProvider, browser] = [openProviderBrowser(), openBrowser(here)]
  await signInBy(browser, atProvider, "ada")
  const bystander = openBrowser(here)
  await signInBy(bystander, openProviderBrowser(), "ben")
  const made = await postJson(browser, "/api/auth/api-key/create", { name: "a script" })
  const { key } = (await made.json()) as { key: string }
  const statuses = async () => {
    const opened = []
    for (const { origin } of [here, there]) {
      const page = await fetch(`${origin}/onboarding`, {
        redirect: "manual",
        headers: { cookie: browser.cookie() },
      })
      const api = await fetch(`${origin}/api/files`, { headers: { authorization: `Bearer ${key}` } })
      opened.push(page.status, api.status)
    }
    return opened
  }
  expect(await statuses()).toEqual([200, 200, 200, 200])
  const withKey = (path: string) => fetch(here.origin + path, { headers: { authorization: `Bearer ${key}` } })
  const sockets = []
  for (const app of [here, there]) {
    sockets.push(await openLiveSocket(app, await realtimeToken(browser as unknown as Person)))
    sockets.push(await openLiveSocket(app, await realtimeToken(withKey as unknown as Person)))
  }

  await signOutAt(atProvider)

  await Promise.all(sockets.map((socket) => socket.until(({ name }) => name === "goodbye")))
  expect(await statuses()).toEqual([302, 401, 302, 401])
  expect((await bystander("/onboarding")).status).toBe(200)
  expect(provider.log.filter((line) => line.includes("Error"))).toEqual([])
})

type ProviderBrowser = ReturnType<typeof openProviderBrowser>

/** A browser, as the provider sees it. */
function openProviderBrowser() {
  const jar = new Map<string, string>()
  return async (address: string, init: RequestInit = {}) => {
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ")
    const url = new URL(address, provider.issuer)
    const response = await fetch(url, { redirect: "manual", ...init, headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === "") jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }
}

/** What a browser does, redirect by redirect and form by form. */
async function signInBy(browser: Browser, atProvider: ProviderBrowser, login: string) {
  let address = (await browser("/sign-in/with/harbour")).headers.get("location") ?? ""
  while (!address.startsWith(here.origin)) {
    const response = await atProvider(address)
    const location = response.headers.get("location")
    address = location
      ? new URL(location, address).href
      : await submit(atProvider, address, await response.text(), login)
  }
  const entered = await browser(address)
  expect(entered.headers.get("location")).toBe("/dashboard")
}

/** Sends the form of a page at the provider, and resolves to its redirect target. */
async function submit(
  atProvider: ProviderBrowser,
  address: string,
  html: string,
  login: string,
): Promise<string> {
  const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1] ?? ""
  const hidden = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  const body = new URLSearchParams(hidden.map(([, name = "", value = ""]) => [name, value]))
  if (html.includes('name="login"')) {
    body.set("login", login)
    body.set("password", "anything")
  }
  const sent = await atProvider(new URL(action, address).href, { method: "POST", body })
  return new URL(sent.headers.get("location") ?? "", address).href
}

/**
 * Does what an administrator or the person does there: the provider then notifies the application.
 */
async function signOutAt(atProvider: ProviderBrowser) {
  const html = await (await atProvider("/session/end")).text()
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(html)?.[1] ?? ""
  const body = new URLSearchParams({ xsrf, logout: "yes" })
  const ended = await atProvider("/session/end/confirm", { method: "POST", body })
  expect(ended.status).toBeLessThan(400)
}
