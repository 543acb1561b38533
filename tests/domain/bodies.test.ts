import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { readForm } from "#server/http/form.ts"
import { secret } from "#server/text-contract.ts"
import { readJson } from "#server/transport/json.ts"

describe("a JSON body", () => {
  test.each(['{"a":1}', "null", "7", '"text"', '\uFEFF{"a":"with a byte order mark"}'])(
    "is parsed: %s",
    async (text) => {
      expect(await readJson(posted(text))).toEqual({
        ok: true,
        value: JSON.parse(text.replace("\uFEFF", "")),
      })
    },
  )

  test.each([
    ["nothing", ""],
    ["cut in half", '{"a":'],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
  ])("that is %s is refused", async (_what, body) => {
    expect(await readJson(posted(body))).toEqual({ ok: false, status: 400 })
  })

  test("may be exactly as large as the limit", async () => {
    expect(await readJson(posted(`"${"x".repeat(98)}"`), { limit: 100 })).toMatchObject({ ok: true })
    expect(await readJson(posted(`"${"x".repeat(99)}"`), { limit: 100 })).toEqual({ ok: false, status: 413 })
  })

  test("that is too large is not read to its end", async () => {
    const { request, taken } = endless({ "content-type": "application/json" })
    expect(await readJson(request, { limit: 10_000 })).toEqual({ ok: false, status: 413 })
    expect(taken()).toBeLessThan(20_000)
  })

  test("whose stated length is too large is not read at all", async () => {
    const { request, taken } = endless({ "content-length": "999999" })
    expect(await readJson(request, { limit: 10_000 })).toEqual({ ok: false, status: 413 })
    expect(taken()).toBeLessThanOrEqual(1000)
  })
})

const MISSING = { message: "This is missing.", reason: "field-missing" }

describe("a form", () => {
  const Account = v.object({
    email: v.pipe(v.string("Say your address."), v.nonEmpty("Say your address.")),
    password: v.pipe(v.string("Choose a password."), v.minLength(10, "Use 10 characters or more."), secret),
  })

  test("is parsed in either encoding", async () => {
    const value = { email: "ada@example.org", password: "long enough" }
    const multipart = new FormData()
    for (const [name, text] of Object.entries(value)) multipart.set(name, text)
    expect(await readForm(posted(new URLSearchParams(value)), Account)).toEqual({ ok: true, value })
    expect(await readForm(posted(multipart), Account)).toEqual({ ok: true, value })
  })

  test("reports the first problem of each field, and returns what was typed except passwords", async () => {
    const form = await readForm(
      posted(new URLSearchParams({ email: "", password: "short", other: "kept" })),
      Account,
    )
    expect(form).toEqual({
      ok: false,
      status: 400,
      errors: {
        email: { message: "Say your address." },
        password: { message: "Use 10 characters or more." },
      },
      values: { email: "", other: "kept" },
    })
  })

  test("without its fields is reported as such", async () => {
    expect(await readForm(posted(new URLSearchParams()), Account)).toMatchObject({
      ok: false,
      errors: { email: MISSING, password: MISSING },
    })
  })

  test("uses the last of repeated fields", async () => {
    const repeated = new URLSearchParams([
      ["email", "grace@example.org"],
      ["password", "long enough"],
      ["email", "ada@example.org"],
    ])
    expect(await readForm(posted(repeated), Account)).toMatchObject({
      ok: true,
      value: { email: "ada@example.org" },
    })
  })

  test("ignores a file", async () => {
    const multipart = new FormData()
    multipart.set("email", new Blob(["ada@example.org"]), "email.txt")
    multipart.set("password", "long enough")
    expect(await readForm(posted(multipart), Account)).toMatchObject({
      ok: false,
      errors: { email: MISSING },
    })
  })

  test("treats a field called __proto__ like any other", async () => {
    const form = await readForm(posted(new URLSearchParams({ __proto__x: "a", ["__proto__"]: "b" })), Account)
    expect(form.ok).toBe(false)
    expect(({} as Record<string, unknown>)["b"]).toBeUndefined()
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
  })

  test("that is not a form, or too large, is refused", async () => {
    expect(await readForm(posted('{"email":"ada@example.org"}'), Account)).toMatchObject({
      ok: false,
      status: 400,
    })
    const large = new URLSearchParams({ email: "x".repeat(65 * 1024) })
    expect(await readForm(posted(large), Account)).toMatchObject({ ok: false, status: 413 })
  })
})

function posted(body: BodyInit): Request {
  return new Request("http://localhost/", { method: "POST", body })
}

/** A body that never ends, and the number of bytes read from it. */
function endless(headers: Record<string, string>) {
  let taken = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        taken += 1000
        controller.enqueue(new Uint8Array(1000).fill(0x20))
      },
    },
    { highWaterMark: 0 },
  )
  const init = { method: "POST", body, headers, duplex: "half" } as RequestInit
  return { request: new Request("http://localhost/", init), taken: () => taken }
}
