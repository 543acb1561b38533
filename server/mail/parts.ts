import { createElement, type ComponentProps, type ReactNode } from "react"
import {
  Body,
  Button,
  Container,
  Head,
  Heading,
  Html,
  Link,
  Preview,
  render,
  Section,
  Text,
  toPlainText,
} from "react-email"
import type { Email } from "#server/ports/mail.ts"
import type { Frame, Written } from "./words.ts"

// Elements are created by calls, not by JSX, because Node runs these files as they are.

type Words = Pick<Written, "subject" | "preview" | "heading" | "body" | "button" | "reason">

/** Both parts are generated from one tree, so that nothing is missing from the plain one. */
export async function composeEmail({ body, button, ...words }: Words, frame: Frame): Promise<Email> {
  const paragraphs = body
    .map((said) => (typeof said === "string" ? { text: said } : said))
    .map((said) => createElement(Paragraph, { key: said.text, ...said }))
  const orOpen = frame.say("Or open this link:", "Oder öffnen Sie diesen Link:")
  const action = button && createElement(Action, { ...button, orOpen })
  const html = await render(createElement(Sheet, { ...words, ...frame }, paragraphs, action))
  const text = toPlainText(html, {
    selectors: [
      { selector: "h1", options: { uppercase: false } },
      { selector: "a.button", format: "button" },
    ],
    formatters: { button: writeButton },
  })
  return { subject: words.subject, text: `${text.trim()}\n`, html }
}

type SheetProps = Omit<Words & Frame, "body" | "button" | "say"> & { children?: ReactNode }

/** A whole email: the name of the site, the message, and why the reader gets it. */
function Sheet({ language, subject, preview, heading, reason, origin, children }: SheetProps) {
  return createElement(
    Html,
    { lang: language },
    createElement(
      Head,
      null,
      createElement("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      createElement("meta", { name: "color-scheme", content: "light dark" }),
      createElement("meta", { name: "supported-color-schemes", content: "light dark" }),
      createElement("title", null, subject),
      createElement("style", { dangerouslySetInnerHTML: { __html: IN_THE_DARK } }),
    ),
    createElement(Preview, PREVIEW, preview),
    createElement(
      Body,
      { className: "page", style: { margin: 0, padding: "32px 16px", backgroundColor: LIGHT.canvas } },
      createElement(
        Container,
        { style: { maxWidth: 560, fontFamily: FONT } },
        createElement(Masthead, { origin }),
        createElement(
          Section,
          { className: "sheet", style: SHEET, tdClassName: "inside" },
          createElement(Heading, { className: "ink", style: HEADING }, heading),
          children,
        ),
        createElement(Foot, { reason, origin }),
      ),
    ),
  )
}

function Masthead({ origin }: { origin: string }) {
  return createElement(
    Section,
    { style: { padding: "0 4px 16px" }, "data-skip-in-text": true } as object,
    createElement(
      Link,
      { href: origin, className: "ink", style: { color: LIGHT.ink, fontSize: 17, fontWeight: 600 } },
      createElement("span", { className: "mark", style: MARK }, "≈"),
      "Tideline",
    ),
  )
}

function Foot({ reason, origin }: { reason: string; origin: string }) {
  return createElement(
    Section,
    { style: { padding: "20px 4px 0" } },
    createElement(
      Text,
      { className: "quiet", style: QUIET },
      reason,
      createElement("br"),
      createElement(Link, { href: origin, className: "link", style: LINK }, origin),
    ),
  )
}

/** `url` is where the text leads, on a line of its own. */
function Paragraph({ text, url }: { text: string; url?: string }) {
  const link =
    url === undefined
      ? []
      : [
          createElement("br", { key: "break" }),
          createElement(Link, { key: "link", href: url, className: "link", style: LINK }, url),
        ]
  return createElement(Text, { className: "ink", style: PARAGRAPH }, text, ...link)
}

/**
 * The one thing to do. Its URL is also shown as text, for people who do not trust buttons or cannot
 * use them.
 */
function Action({ label, url, orOpen }: { label: string; url: string; orOpen: string }) {
  return [
    createElement(Button, { key: "button", href: url, className: "button", style: BUTTON }, label),
    createElement(
      Text,
      { key: "address", className: "quiet", style: ADDRESS, "data-skip-in-text": true } as object,
      orOpen,
      createElement("br", { key: "break" }),
      createElement(Link, { key: "link", href: url, className: "link", style: LINK }, url),
    ),
  ]
}

/** html-to-text's options, for which it has no types. */
interface TextBuilder {
  openBlock(options: { leadingLineBreaks: number }): void
  closeBlock(options: { trailingLineBreaks: number }): void
  addInline(text: string, options?: { noWordTransform: boolean }): void
  addLineBreak(): void
}

interface HtmlElement {
  children: object[]
  attribs: Record<string, string>
}

/** The button's label, and its URL alone on a line, where every mail program links it. */
function writeButton(
  { children, attribs }: HtmlElement,
  walk: (children: object[], builder: TextBuilder) => void,
  builder: TextBuilder,
) {
  builder.openBlock({ leadingLineBreaks: 2 })
  walk(children, builder)
  builder.addInline(":")
  builder.addLineBreak()
  builder.addInline(attribs["href"] ?? "", { noWordTransform: true })
  builder.closeBlock({ trailingLineBreaks: 2 })
}

// The tokens of app/app.css, in the syntax that mail programs support.
const LIGHT = {
  canvas: "#fafbfc",
  surface: "#ffffff",
  line: "#e0e5e7",
  ink: "#101b21",
  muted: "#48555c",
  accent: "#026e82",
  accentInk: "#005d71",
}

const IN_THE_DARK = `
:root { color-scheme: light dark; supported-color-schemes: light dark }
@media (prefers-color-scheme: dark) {
  .page, .page > table > tbody > tr > td { background-color: #0a1013 !important }
  .sheet { background-color: #10181c !important; border-color: #212a2f !important }
  .ink { color: #edf1f2 !important }
  .quiet { color: #a8b1b5 !important }
  .link { color: #6cd7e1 !important }
  .button, .mark { background-color: #55c2ce !important; color: #011219 !important }
}
@media (max-width: 480px) {
  .inside { padding: 24px 20px !important }
}
`

const FONT =
  "'Geist Variable', -apple-system, BlinkMacSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"

// The type requires children among the props, where lint forbids them.
const PREVIEW = { useTitleTag: false } as ComponentProps<typeof Preview>

const SHEET = {
  padding: 32,
  backgroundColor: LIGHT.surface,
  border: `1px solid ${LIGHT.line}`,
  borderRadius: 12,
  borderCollapse: "separate",
} as const

const MARK = {
  display: "inline-block",
  width: 24,
  height: 24,
  marginRight: 10,
  borderRadius: 6,
  backgroundColor: LIGHT.accent,
  color: "#ffffff",
  fontSize: 17,
  lineHeight: "24px",
  textAlign: "center",
} as const

const HEADING = {
  margin: "0 0 16px",
  color: LIGHT.ink,
  fontSize: 24,
  lineHeight: "32px",
  fontWeight: 600,
  letterSpacing: "-0.02em",
}

const PARAGRAPH = { margin: "0 0 16px", color: LIGHT.ink, fontSize: 16, lineHeight: "26px" }

const QUIET = { margin: 0, color: LIGHT.muted, fontSize: 13, lineHeight: "20px" }

const ADDRESS = { ...QUIET, margin: "24px 0 0" }

const LINK = { color: LIGHT.accentInk, textDecoration: "underline", overflowWrap: "anywhere" } as const

const BUTTON = {
  marginTop: 12,
  padding: "14px 22px",
  borderRadius: 8,
  backgroundColor: LIGHT.accent,
  color: "#ffffff",
  fontSize: 16,
  fontWeight: 600,
}
