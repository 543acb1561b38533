import type { ReceivedMessage, ReceivedFile } from "./development-messages.ts"

/** The development gateway's reply, as the chunks that it sends. */
export interface Reply {
  /** An HTTP error instead of a reply. */
  status?: 401 | 429 | 500
  reasoning: string[]
  pieces: string[]
  /** `input` is JSON text. */
  toolCall?: { name: string; input: string }
  /** Milliseconds between two pieces. */
  pause: number
  /** The connection is reset before this chunk. */
  resetAfter?: number
}

const LABEL = "**Development gateway: no language model is connected.**"

/**
 * Replies to the last message. Commands at the start of the message: `/slow [n]` sends a word a
 * second, `/long [n]` n words, `/markdown`, `/reasoning`, `/tool <name> [json]`, `/fail401`,
 * `/fail429`, `/fail500`, and `/reset` resets the connection midway.
 */
export function composeReply(messages: ReceivedMessage[], tools: string[]): Reply {
  const last = messages.at(-1)
  if (last?.role === "tool") return say(`The tool answered:\n\n${quote(last.text.slice(0, 2000))}`)

  const question = last?.text.trim() ?? ""
  const [word, rest] = splitFirst(question)
  switch (word) {
    case "/fail401":
      return { ...say(""), status: 401 }
    case "/fail429":
      return { ...say(""), status: 429 }
    case "/fail500":
      return { ...say(""), status: 500 }
    case "/reset":
      return {
        ...say("The connection is reset in the middle of this sentence, which therefore has no end."),
        resetAfter: 12,
      }
    case "/slow":
      return { ...say(`One word a second.\n\n${count(wholeNumber(rest, 60))}`), pause: 1000 }
    case "/long":
      return { ...say(count(wholeNumber(rest, 500))), pause: 5 }
    case "/markdown":
      return say(MARKDOWN)
    case "/reasoning":
      return {
        ...say("The lines above came as reasoning."),
        reasoning: inPieces("First a thought. Then a second thought."),
      }
    case "/tool":
      return callTool(rest, tools)
    default:
      return say(echo(question, messages, tools))
  }
}

function say(text: string): Reply {
  return { reasoning: [], pieces: inPieces(`${LABEL}\n\n${text}`), pause: 15 }
}

function callTool(order: string, tools: string[]): Reply {
  const [name, input] = splitFirst(order)
  if (!tools.includes(name))
    return say(`No tool is called "${name}". Offered: ${tools.join(", ") || "none"}.`)
  return { reasoning: [], pieces: [], toolCall: { name, input: input || "{}" }, pause: 15 }
}

function echo(question: string, messages: ReceivedMessage[], tools: string[]) {
  const spoken = messages.filter(({ role }) => role !== "system")
  const files = messages.at(-1)?.files ?? []
  return [
    ...(question === "" ? [] : ["You wrote:", quote(question.slice(0, 2000))]),
    ...(files.length === 0 ? [] : [countFiles(files), ...files.flatMap(quoteFile)]),
    `This request holds ${spoken.length} ${spoken.length === 1 ? "message" : "messages"}. Tools offered: ${tools.join(", ") || "none"}.`,
  ].join("\n\n")
}

/** `2 files came with it: 1 image/png, 1 text/plain.` */
function countFiles(files: ReceivedFile[]) {
  const kinds = new Map<string, number>()
  for (const { kind } of files) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  const counted = Array.from(kinds, ([kind, number]) => `${number} ${kind}`).join(", ")
  return `${files.length} ${files.length === 1 ? "file" : "files"} came with it: ${counted}. Nobody looked at what they show.`
}

function quoteFile({ name, beginning }: ReceivedFile) {
  return beginning === null ? [] : [`${name ?? "A text file"} begins:`, quote(beginning)]
}

function quote(text: string) {
  return text.replace(/^/gm, "> ")
}

function count(words: number) {
  return Array.from({ length: words }, (_, index) => `word ${index + 1}`).join(", ")
}

function wholeNumber(text: string, otherwise: number) {
  const number = Number.parseInt(text, 10)
  return number > 0 ? Math.min(number, 20_000) : otherwise
}

function splitFirst(text: string): [string, string] {
  const space = text.search(/\s/)
  return space < 0 ? [text, ""] : [text.slice(0, space), text.slice(space).trim()]
}

/** Words with their trailing space, as models send them. */
function inPieces(text: string) {
  return text.match(/\S+\s*/g) ?? []
}

const MARKDOWN = `## What this page can show

Words that are **strong**, *stressed*, ~~struck out~~ or \`code\`, and a [link](https://reactrouter.com/start/modes).

1. A numbered list
2. with a nested one:
   - a bullet
   - and another

- [x] a task that is done
- [ ] and one that is not

> A quotation, with a line
> that goes on.

| Part | Where | Lines |
| :--- | :---: | ---: |
| server | \`server/\` | 1200 |
| browser | \`app/\` | 900 |

\`\`\`ts
export function greet(name: string) {
  return \`Hello, \${name}\`
}
\`\`\`

A statement with a source[^source] and a second one[^note], and the first source again[^source].

An image from elsewhere, ![a pixel](https://images.example/pixel.png?of=you), and <b onclick="alert(1)">raw HTML</b> are not
shown, and [this address](javascript:alert(1)) goes nowhere.

---

That is all.

[^source]: [Tides](https://en.wikipedia.org/wiki/Tide), an encyclopedia's article.
[^note]: A footnote can hold \`code\` and **strong** words,

    and a second paragraph.`
