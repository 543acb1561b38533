import { isRouteErrorResponse } from "react-router"
import { describe, expect, it } from "vitest"
import { TextResponse } from "#server/transport/text-response.ts"

const CONTENT = "Grüße, 🌊"
const answer = () => new TextResponse(CONTENT, { status: 201, headers: { "x-colour": "blue" } })

describe("a response with known text", () => {
  it("is a Response with the given status and headers", () => {
    const response = answer()
    expect(response).toBeInstanceOf(Response)
    expect([response.ok, response.status, response.headers.get("x-colour")]).toEqual([true, 201, "blue"])
    expect(new TextResponse("", { status: 404 }).ok).toBe(false)
    expect(isRouteErrorResponse(response)).toBe(false)
  })

  it("is read once, like any other", async () => {
    const response = answer()
    expect(response.bodyUsed).toBe(false)
    expect(await response.text()).toBe(CONTENT)
    expect(response.bodyUsed).toBe(true)
    await expect(response.text()).rejects.toThrow(TypeError)
    expect(() => response.clone()).toThrow(TypeError)
  })

  it("passes its body to another response", async () => {
    const response = answer()
    const other = new Response(response.body, response)
    expect([other.status, other.headers.get("x-colour"), await other.text()]).toEqual([201, "blue", CONTENT])
    expect(response.bodyUsed).toBe(true)
  })

  it("has a clone that is read independently", async () => {
    const response = answer()
    const copy = response.clone()
    copy.headers.set("x-colour", "red")
    expect(await copy.text()).toBe(CONTENT)
    expect([response.bodyUsed, response.headers.get("x-colour")]).toEqual([false, "blue"])
  })
})
