import { request } from "node:http"
import { gunzipSync } from "node:zlib"
import { describe, expect, it } from "vitest"
import { grace, signUp } from "../support/people.ts"
import { withTideline } from "../support/with-tideline.ts"

// A public page that was just rendered for one visitor is sent to the next without rendering it
// again.

const { app } = withTideline()

describe("a cached public page", () => {
  it("differs for each visitor only in its nonce, in the policy and throughout the page", async () => {
    const first = await ask("/features")
    const second = await ask("/features")
    expect(first.headers["etag"]).toBeUndefined()
    expect(second.headers["etag"]).toMatch(/^W\/"[\w-]{22}"$/)
    expect(nonceOf(second)).not.toBe(nonceOf(first))
    expect(second.text).toContain(`nonce="${nonceOf(second)}"`)
    expect(second.text.replaceAll(nonceOf(second), "")).toBe(first.text.replaceAll(nonceOf(first), ""))
    expect(Object.keys(second.headers)).toEqual(
      expect.arrayContaining(["x-frame-options", "referrer-policy", "x-request-id"]),
    )
    expect(second.headers["vary"]).toBe("accept-encoding, accept-language, cookie")
  })

  it("is sent compressed, with its nonce, to clients that accept it", async () => {
    await ask("/about")
    const plain = await ask("/about")
    const [one, two] = [
      await ask("/about", { "accept-encoding": "gzip, br" }),
      await ask("/about", { "accept-encoding": "gzip" }),
    ]
    for (const answer of [one, two]) {
      expect(answer.headers["content-encoding"]).toBe("gzip")
      expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 3)
      const text = gunzipSync(answer.bytes).toString()
      expect(text).toContain(`nonce="${nonceOf(answer)}"`)
      expect(text.replaceAll(nonceOf(answer), "")).toBe(plain.text.replaceAll(nonceOf(plain), ""))
    }
    expect(nonceOf(one)).not.toBe(nonceOf(two))
  })

  it("is not sent again to a browser that has it, which keeps the policy of its copy", async () => {
    await ask("/privacy")
    const { etag = "" } = (await ask("/privacy")).headers
    const again = await ask("/privacy", { "if-none-match": `"other", ${etag}` })
    expect(again.status).toBe(304)
    expect(again.text).toBe("")
    expect(again.headers["content-security-policy"]).toBeUndefined()
    expect((await ask("/privacy", { "if-none-match": '"other"' })).status).toBe(200)
  })

  it("has each visitor's colour scheme", async () => {
    for (const theme of ["dark", "light"]) {
      for (let time = 0; time < 2; time++) {
        const { text } = await ask("/pricing", { cookie: `theme=${theme}` })
        expect(text).toContain(`data-theme="${theme}"`)
      }
    }
    expect((await ask("/pricing")).text).not.toMatch(/<html[^>]*data-theme/)
  })

  it("is in each visitor's language", async () => {
    for (const [language, wishes] of [
      ["de", { "accept-language": "de-AT, en;q=0.8" }],
      ["en", { "accept-language": "en-GB, de;q=0.9" }],
      ["en", { "accept-language": "de", cookie: "language=en" }],
      ["de", { "accept-language": "en", cookie: "language=de" }],
      ["en", {}],
    ] as const) {
      for (let time = 0; time < 2; time++) {
        const { text, headers } = await ask("/pricing", wishes)
        expect(text).toContain(`<html lang="${language}"`)
        expect(text).toContain(language === "de" ? ">Anmelden<" : ">Sign in<")
        expect(headers["content-language"]).toBe(language)
      }
    }
  })

  it("is never shown to someone who is signed in, or the other way round", async () => {
    const person = await signUp(app, grace)
    for (let time = 0; time < 2; time++) {
      expect((await ask("/terms")).text).toContain(">Sign in<")
      const own = await person("/terms")
      expect(own.headers.get("etag")).toBeNull()
      const text = await own.text()
      expect(text).not.toContain(">Sign in<")
      expect(text).toContain('href="/dashboard"')
    }
  })

  it("is used for reading only: other methods and queries are handled as usual", async () => {
    await ask("/cookies")
    expect((await ask("/cookies")).headers["etag"]).toBeDefined()
    expect((await ask("/cookies?a=1")).headers["etag"]).toBeUndefined()
    const head = await ask("/cookies", {}, "HEAD")
    expect(head).toMatchObject({ status: 200, text: "" })
    expect((await ask("/cookies", { origin: app.origin }, "POST")).status).toBe(405)
  })
})

it("a missing page and one that depends on the session are rendered each time", async () => {
  for (const path of ["/blog/nowhere", "/sign-in", "/waitlist"]) {
    await ask(path)
    expect((await ask(path)).headers["etag"], path).toBeUndefined()
  }
})

interface PageResponse {
  status: number
  headers: Record<string, string>
  bytes: Buffer
  text: string
}

/**
 * With no other headers than these: `fetch` requests compressed responses on its own, and hides it.
 */
function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<PageResponse> {
  return new Promise((resolve, reject) => {
    const asked = request(app.origin + path, { method, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on("data", (chunk: Buffer) => chunks.push(chunk))
      answer.on("end", () => {
        const bytes = Buffer.concat(chunks)
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers as Record<string, string>,
          bytes,
          text: bytes.toString(),
        })
      })
    })
    asked.on("error", reject)
    asked.end()
  })
}

function nonceOf({ headers }: PageResponse): string {
  return /'nonce-([^']+)'/.exec(headers["content-security-policy"] ?? "")?.[1] ?? "none"
}
