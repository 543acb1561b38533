import { describe, expect, it } from "vitest"
import { languageFor } from "#server/transport/language.ts"

describe("the language of a page", () => {
  it.each([
    ["nothing is requested", {}, "en"],
    ["the browser asks for it", { acceptLanguage: "de" }, "de"],
    ["the browser asks for a region of it", { acceptLanguage: "de-AT" }, "de"],
    ["it comes first", { acceptLanguage: "de-CH,de;q=0.9,en;q=0.8" }, "de"],
    ["it has the highest weight, in any place", { acceptLanguage: "en;q=0.5, de;q=0.8" }, "de"],
    ["unavailable languages precede it", { acceptLanguage: "fr, pl;q=0.9, de;q=0.2, en;q=0.1" }, "de"],
    ["it is refused", { acceptLanguage: "de;q=0, *" }, "en"],
    ["any language is accepted", { acceptLanguage: "*" }, "en"],
    ["the header is invalid", { acceptLanguage: ";;q=,de;;;q=1,=" }, "en"],
    ["it was chosen here", { acceptLanguage: "en", cookie: "a=b; language=de; theme=dark" }, "de"],
    ["English was chosen here", { acceptLanguage: "de", cookie: "language=en" }, "en"],
    ["the choice is invalid", { acceptLanguage: "de", cookie: "language=fr" }, "de"],
    ["another cookie's name has the same ending", { cookie: "my-language=de" }, "en"],
  ])("where %s", (_, wishes, language) => {
    expect(languageFor(wishes)).toBe(language)
  })
})
