import type { TidelineApp } from "./app.ts"
import { checkResponse } from "./openapi.ts"

type App = Pick<TidelineApp, "origin">

/**
 * A signed-in person's browser: `fetch` with their cookies. URLs may be paths; redirects are not
 * followed.
 */
export interface Person {
  (address: string, init?: RequestInit): Promise<Response>
  email: string
  password: string
  /** The Cookie header that the browser would send now. */
  cookie(): string
  /** The same cookies by name. */
  cookies(): Record<string, string>
  /** Creates an API key. */
  apiKey(): Promise<string>
}

export const ada = { name: "Ada Lovelace", email: "ada@example.org" }
export const grace = { name: "Grace Hopper", email: "grace@example.org" }

const PASSWORD = "an engine of brass and cards"

/** Creates an account with the embedded identity provider, and signs in. */
export function signUp(
  app: App,
  { name, email, password = PASSWORD }: { name: string; email: string; password?: string },
): Promise<Person> {
  return enter(app, "/api/auth/sign-up/email", { name, email, password })
}

export function signIn(
  app: App,
  { email, password = PASSWORD }: { email: string; password?: string },
): Promise<Person> {
  return enter(app, "/api/auth/sign-in/email", { email, password })
}

/**
 * A browser that holds `cookies` and stores those it receives. Like a real one it sends the Origin
 * of its requests.
 */
export function openBrowser(app: App, cookies: Record<string, string> = {}) {
  const jar = new Map(Object.entries(cookies))
  const cookie = () => [...jar].map((pair) => pair.join("=")).join("; ")
  const send = async (address: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    if (jar.size > 0 && !headers.has("cookie")) headers.set("cookie", cookie())
    const isSafe = /^(GET|HEAD)$/i.test(init.method ?? "GET")
    if (!isSafe && !headers.has("origin")) headers.set("origin", app.origin)
    const url = new URL(address, app.origin)
    const response = await fetch(url, { redirect: "manual", ...init, headers })
    await checkResponse(url, init.method, response)
    for (const line of response.headers.getSetCookie()) keep(jar, line)
    return response
  }
  return Object.assign(send, { cookie, cookies: () => Object.fromEntries(jar) })
}

async function enter(
  app: App,
  path: string,
  account: { name?: string; email: string; password: string },
): Promise<Person> {
  const browser = openBrowser(app)
  const response = await postJson(browser, path, account)
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  const { email, password } = account
  return Object.assign(browser, {
    email,
    password,
    async apiKey() {
      const made = await postJson(browser, "/api/auth/api-key/create", { name: "a script" })
      if (!made.ok) throw new Error(`No API key was made: ${made.status} ${await made.text()}`)
      return ((await made.json()) as { key: string }).key
    },
  })
}

export function postJson(
  send: (address: string, init: RequestInit) => Promise<Response>,
  path: string,
  body: object,
) {
  return send(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  })
}

function keep(jar: Map<string, string>, line: string) {
  const [pair = "", ...attributes] = line.split(";")
  const at = pair.indexOf("=")
  const isGone = attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))
  if (isGone) jar.delete(pair.slice(0, at))
  else jar.set(pair.slice(0, at), pair.slice(at + 1))
}
