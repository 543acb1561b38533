import { describe, expect, test } from "vitest"
import { openBrowser } from "../../support/people.ts"
import { withTideline } from "../../support/with-tideline.ts"

const HOSTILE = [
  "//evil.example",
  "///evil.example",
  "////evil.example/x",
  "/.//evil.example",
  "/..//evil.example",
  "/x/..//evil.example",
  "/././/evil.example",
  "/%2e%2e//evil.example",
  "/%2E//evil.example",
  "/x/%2e%2e//evil.example",
  "/%2f/evil.example",
  "/%2F%2Fevil.example",
  "/%5cevil.example",
  "/\\evil.example",
  "/.\\/evil.example",
  "\\\\evil.example",
  "/\t/evil.example",
  "/\n/evil.example",
  "/\r\n/evil.example",
  "\t//evil.example",
  "/\u0000/evil.example",
  " //evil.example",
  "https://evil.example",
  "HTTPS:evil.example",
  "https:/\\evil.example",
  "//user:word@evil.example",
  "https://localhost@evil.example",
  "//evil.example#@localhost",
  "//[::1]/",
  "//0x7f.1/",
  "/\u2028/evil.example",
  "\u3000//evil.example",
  "//evil\u3002example",
  "/\uff0f/evil.example",
  "javascript:alert(1)",
  "data:text/html,x",
  "ftp:evil.example",
  "?//evil.example",
  "evil.example",
  "",
]

const { app, ada } = withTideline({ people: { ada: { name: "Ada", email: "ada@example.org" } } })

/** Every URL that redirects to a target from the request, and how it is requested. */
const WAYS_IN: [string, (target: string) => Promise<Response>][] = [
  ["sign-in, signed in", (target) => ada(`/sign-in?${asking("redirect_url", target)}`)],
  ["sign-in's data", (target) => ada(`/sign-in.data?${asking("redirect_url", target)}`)],
  ["sign-up, signed in", (target) => ada(`/sign-up?${asking("redirect_url", target)}`)],
  [
    "the sign-in form",
    (target) =>
      openBrowser(app)(`/sign-in?${asking("redirect_url", target)}`, {
        method: "POST",
        body: new URLSearchParams({ email: ada.email, password: ada.password }),
      }),
  ],
  ["the choice of a language", (target) => post("/language", { language: "de", from: target })],
  ["the choice of light or dark", (target) => post("/theme", { theme: "dark", from: target })],
  [
    "the link that confirms an address",
    (target) => get("/sign-up/confirm", { token: "bad", callbackURL: target }),
  ],
  ["a waitlist's link", (target) => get("/waitlist/confirm", { token: "bad", redirect_url: target })],
  ...["verify-email", "reset-password/bad", "delete-user/callback", "callback/github", "error"].flatMap(
    (path): [string, (target: string) => Promise<Response>][] =>
      ["callbackURL", "errorCallbackURL", "redirectTo", "redirect_url", "error_description"].map((name) => [
        `/api/auth/${path} by ${name}`,
        (target) => get(`/api/auth/${path}`, { token: "bad", [name]: target }),
      ]),
  ),
  ["an address with two slashes", (target) => fetch(`${app.origin}/${target}`, { redirect: "manual" })],
]

describe("redirects never leave the site", () => {
  test.each(WAYS_IN)("%s", async (_way, ask) => {
    const ways = await Promise.all(HOSTILE.map(async (target) => findWayOut(target, await ask(target))))
    expect(ways.filter((way) => way !== null)).toEqual([])
  })
})

/** The target of the response, or of its page, if that is another site. */
async function findWayOut(target: string, response: Response) {
  const text = await response.text()
  const place = response.headers.get("location") ?? response.headers.get("x-remix-redirect")
  if (place !== null && leavesSite(place)) return { target, place }
  const isData = response.headers.get("content-type")?.includes("x-script")
  return isData && /"(https?:)?\/\/evil/.test(text) ? { target, text } : null
}

function leavesSite(place: string): boolean {
  return !URL.canParse(place, app.origin) || new URL(place, app.origin).origin !== app.origin
}

function asking(name: string, target: string) {
  return new URLSearchParams({ [name]: target })
}

function get(path: string, query: Record<string, string>) {
  return fetch(`${app.origin}${path}?${new URLSearchParams(query)}`, { redirect: "manual" })
}

function post(path: string, fields: Record<string, string>) {
  return openBrowser(app)(path, { method: "POST", body: new URLSearchParams(fields) })
}
