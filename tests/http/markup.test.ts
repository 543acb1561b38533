import { HtmlValidate } from "html-validate"
import { LinkChecker, LinkState } from "linkinator"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startTideline, type TidelineApp } from "../support/app.ts"
import { publicForms, publicPages } from "../support/public-pages.ts"

let app: TidelineApp
beforeAll(async () => {
  app = await startTideline()
})
afterAll(() => app.stop())

const pages = [...publicPages, ...publicForms, "/docs/nothing"]

const validator = new HtmlValidate({
  extends: ["html-validate:recommended"],
  rules: {
    // How React writes HTML, all of it allowed: <br/>, selected="", charSet, ids that begin with an
    // underscore, styles that change.
    "void-style": "off",
    "attr-case": "off",
    "valid-id": ["error", { relaxed: true }],
    "attribute-boolean-style": "off",
    "attribute-empty-style": "off",
    "doctype-style": "off",
    "no-inline-style": "off",
    // Lines are as long as they are, and spaces at their ends are those of code.
    "long-title": "off",
    "no-trailing-whitespace": "off",
    // A button in a form submits it and an input takes text, as the standard says.
    "no-implicit-button-type": "off",
    "no-implicit-input-type": "off",
    // A password that is being looked at is a text, and must not be capitalised then.
    "input-attributes": "off",
    // Regions that scroll, and are reached by the keyboard for it.
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
    // Other sites are theirs to keep.
    linksToSkip: async (link) => !link.startsWith(app.origin),
  })
  const broken = links.filter(({ state }) => state === LinkState.BROKEN)
  expect(broken.map(({ url, parent, status }) => `${parent} -> ${url}: ${status}`)).toEqual([])
  expect(links.filter(({ state }) => state === LinkState.OK).length).toBeGreaterThan(pages.length)
})
