import { HtmlValidate } from "html-validate"
import { LinkChecker, LinkState } from "linkinator"
import { describe, expect, it } from "vitest"
import { publicForms, publicPages } from "../support/public-pages.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app } = withTideline()

const pages = [...publicPages, ...publicForms, "/docs/nothing"]

const validator = new HtmlValidate({
  extends: ["html-validate:recommended"],
  rules: {
    // React's output, all of it valid: <br/>, selected="", charSet, ids that begin with an
    // underscore, inline styles that change.
    "void-style": "off",
    "attr-case": "off",
    "valid-id": ["error", { relaxed: true }],
    "attribute-boolean-style": "off",
    "attribute-empty-style": "off",
    "doctype-style": "off",
    "no-inline-style": "off",
    // Long lines are fine, and trailing spaces belong to code.
    "long-title": "off",
    "no-trailing-whitespace": "off",
    // A button in a form submits it and an input is a text field by default.
    "no-implicit-button-type": "off",
    "no-implicit-input-type": "off",
    // A visible password is a text field, and must not be capitalised.
    "input-attributes": "off",
    // Scrollable regions, focusable so that the keyboard can scroll them.
    "prefer-native-element": "off",
  },
})

describe("the HTML from the server", () => {
  it.each(pages)("%s is valid", async (path) => {
    const html = await (await fetch(app.origin + path)).text()
    const { results } = await validator.validateString(html)
    const faults = results.flatMap(({ messages }) =>
      messages
        .filter(({ severity }) => severity === 2)
        .map(({ ruleId, message, selector }) => `${ruleId}: ${message} at ${selector}`),
    )
    expect(faults).toEqual([])
  })
})

it("every link, picture, style and script in it exists", { timeout: 120_000 }, async () => {
  const checker = new LinkChecker()
  const { links } = await checker.check({
    path: app.origin,
    recurse: true,
    concurrency: 4,
    checkFragments: true,
    // Links to other sites are not checked.
    linksToSkip: async (link) => !link.startsWith(app.origin),
  })
  const broken = links.filter(({ state }) => state === LinkState.BROKEN)
  expect(broken.map(({ url, parent, status }) => `${parent} -> ${url}: ${status}`)).toEqual([])
  expect(links.filter(({ state }) => state === LinkState.OK).length).toBeGreaterThan(pages.length)
})
