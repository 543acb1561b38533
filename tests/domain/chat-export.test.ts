import { eq } from "drizzle-orm"
import createParser from "markdown-it"
import { describe, expect, it } from "vitest"
import { chatMessages, chatReplacedMessages } from "#db/schema/chat.ts"
import { spaceMembers, spaces } from "#db/schema/spaces.ts"
import { users } from "#db/schema/users.ts"
import { closeBlocks } from "#server/chat/close-blocks.ts"
import { exportThread } from "#server/chat/export.ts"
import { listMessages } from "#server/chat/messages.ts"
import { listReplaced } from "#server/chat/replaced.ts"
import { threadLinks } from "#server/chat/shares.ts"
import { createLink } from "#server/links/links.ts"
import { createThread } from "#server/chat/threads.ts"
import { startReply } from "#server/chat/turn.ts"
import { type ChatScope, shareChatServices, readAll } from "../support/chat-services.ts"

const { chat, ada, grace } = await shareChatServices()

describe("an exported conversation", () => {
  it("is Markdown that reads like the conversation", async () => {
    const { _id } = await createThread(ada, { title: "The [sea](javascript:alert(1)) & *more*" })
    await ask(_id, '/tool currentTime {"timeZone":"UTC"}')
    await ask(_id, "/fail500")
    const response = await exportThread(ada, _id, { format: "markdown" })
    expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8")
    const text = await response.text()
    expect(text.startsWith("# The \\[sea\\](javascript:alert(1)) \\& \\*more\\*\n\n## You, 20")).toBe(true)
    expect(text).toMatch(
      /\n## You, \d{4}-\d\d-\d\d \d\d:\d\d UTC\n\n\/tool currentTime \{"timeZone":"UTC"\}\n/,
    )
    expect(text).toMatch(
      /\n## Answer of development\/no-model, .* UTC\n\n\*Used currentTime\.\*\n\n\*\*Development gateway/,
    )
    expect(text).toMatch(/\*The model couldn't reply\. Try again\. \(Reference [0-9a-f]{8}\)\*\n$/)
    expect(headings(text)).toHaveLength(5)
  })

  it("is JSON with everything that the message list returns, oldest first", async () => {
    const { _id } = await createThread(ada, { title: "Long" })
    await fill(ada, _id, 130)
    const response = await exportThread(ada, _id, { format: "json" })
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8")
    const { thread, messages } = (await response.json()) as {
      thread: object
      messages: { content: string }[]
    }
    expect(thread).toMatchObject({ _id, title: "Long" })
    expect(messages.map(({ content }) => content)).toEqual(
      Array.from({ length: 130 }, (_, i) => `message ${i}`),
    )
    const { entries } = await listMessages(ada, _id)
    expect(messages.at(-1)).toEqual(entries.at(-1))
  })

  it("includes what edits replaced, as Markdown and as JSON", async () => {
    const { _id } = await createThread(ada, { title: "Edited" })
    await ask(_id, "How deep is the first sea?")
    const [first] = (await listMessages(ada, _id)).entries
    await ask(_id, "How deep is the second sea?", first?._id)
    const [second] = (await listMessages(ada, _id)).entries
    await ask(_id, "How deep is the third sea?", second?._id)

    const markdown = await (await exportThread(ada, _id, { format: "markdown" })).text()
    const asked = [...markdown.matchAll(/^(# .*|How deep.*)$/gm)].map(([line]) => line)
    expect(asked).toEqual([
      "# Edited",
      "How deep is the third sea?",
      expect.stringMatching(/^# Before the edit of .* UTC$/),
      "How deep is the first sea?",
      expect.stringMatching(/^# Before the edit of .* UTC$/),
      "How deep is the second sea?",
    ])
    const json = (await (await exportThread(ada, _id, { format: "json" })).json()) as {
      replaced: { content: string; turn: object | null }[]
    }
    expect(json.replaced.map(({ content, turn }) => (turn ? "answer" : content))).toEqual([
      "How deep is the first sea?",
      "answer",
      "How deep is the second sea?",
      "answer",
    ])
  })

  it("includes a reply that another replaced while a link shows it", async () => {
    const { _id } = await createThread(ada, { title: "Again" })
    await ask(_id, "How deep is the sea?")
    await createLink(ada, threadLinks, _id, { shows: "copy" })
    const [question, reply] = (await listMessages(ada, _id)).entries
    const again = { requestId: reply?.requestId ?? "", text: "How deep is the sea?", again: true }
    await readAll((await startReply(ada, _id, again)).chunks)

    const markdown = await (await exportThread(ada, _id, { format: "markdown" })).text()
    expect(headings(markdown)).toEqual([
      "Again",
      expect.stringMatching(/^You, /),
      expect.stringMatching(/^Answer of /),
      expect.stringMatching(/^Before the new answer of .* UTC$/),
      expect.stringMatching(/^Answer of /),
    ])
    const { replaced } = (await (await exportThread(ada, _id, { format: "json" })).json()) as {
      replaced: { _id: string }[]
    }
    expect(replaced.map((each) => each._id)).toEqual([reply?._id])
    await expect(listReplaced(ada, _id, question?._id ?? "")).rejects.toMatchObject({
      reason: "no-such-earlier-version",
    })
  })

  it("keeps the footnotes of messages apart, although each starts at 1", async () => {
    const { _id } = await createThread(ada, { title: "Footnotes" })
    const said = [
      "High[^1], low[^2].\n\n[^1]: Twice.\n[^2]: Later.",
      "Deep[^1], `[^1]`, shallow[^3].\n\n```\n[^1]: code\n```\n\n[^1]: Far.",
      "Wide[^1].\n\n[^1]: Long.\n\n[^1-2]: Mine.",
    ]
    for (const content of said)
      await chat.db
        .insert(chatMessages)
        .values({ userId: ada.viewer.user._id, threadId: _id, role: "assistant", content })
    const markdown = await (await exportThread(ada, _id, { format: "markdown" })).text()
    expect(markdown).toContain(said[0])
    expect(markdown).toContain("Deep[^1-2], `[^1]`, shallow[^3].\n\n```\n[^1]: code\n```\n\n[^1-2]: Far.")
    expect(markdown).toContain("Wide[^1-3].\n\n[^1-3]: Long.\n\n[^1-2-2]: Mine.")
    const json = (await (await exportThread(ada, _id, { format: "json" })).json()) as {
      messages: { content: string }[]
    }
    expect(json.messages.map(({ content }) => content)).toEqual(said)
  })

  it("names the authors of messages in a space, and calls only the reader's own theirs", async () => {
    const [space] = await chat.db.insert(spaces).values({ name: "Engines", slug: "engines" }).returning()
    const spaceId = space?._id ?? ""
    const named = await chat.scopeOf("named")
    await chat.db.update(users).set({ name: "Bob *B*" }).where(eq(users._id, named.viewer.user._id))
    const former = await chat.scopeOf("former")
    for (const { viewer } of [ada, grace, named, former])
      await chat.db.insert(spaceMembers).values({ spaceId, userId: viewer.user._id, role: "editor" })
    const { _id } = await createThread(ada, { title: "Ours", spaceId })
    for (const { viewer } of [ada, grace, named, former])
      await chat.db
        .insert(chatMessages)
        .values({ userId: viewer.user._id, threadId: _id, role: "user", content: "Hello" })
    const old = { userId: grace.viewer.user._id, threadId: _id, replacedBy: _id, replacedAt: 1 }
    await chat.db.insert(chatReplacedMessages).values({ ...old, role: "user", content: "Hullo" })
    await chat.db.delete(spaceMembers).where(eq(spaceMembers.userId, former.viewer.user._id))

    const markdown = await (await exportThread(ada, _id, { format: "markdown" })).text()
    const authors = [...markdown.matchAll(/^## (.*), \d{4}-/gm)].map(([, author]) => author)
    expect(authors).toEqual(["You", "grace@example.org", "Bob \\*B\\*", "Former member", "grace@example.org"])
  })

  it("names the attached files", async () => {
    const { _id } = await createThread(ada, { title: "Files" })
    await chat.db.insert(chatMessages).values({
      userId: ada.viewer.user._id,
      threadId: _id,
      role: "user",
      content: "Read this.",
      attachments: [
        { fileId: crypto.randomUUID(), fileName: "a_b*.txt", mimeType: "text/plain", size: 12 },
        { fileId: crypto.randomUUID(), fileName: "c.png", mimeType: "image/png", size: 34 },
      ],
    })
    const text = await (await exportThread(ada, _id, { format: "markdown" })).text()
    expect(text).toContain(
      "Read this.\n\n- Attached: a\\_b\\*.txt (text/plain, 12 bytes)\n- Attached: c.png (image/png, 34 bytes)\n",
    )
  })

  it("contains only its title if it is empty", async () => {
    const { _id } = await createThread(ada, { title: "Quiet" })
    expect(await (await exportThread(ada, _id, { format: "markdown" })).text()).toBe("# Quiet\n")
  })

  it("is not found by anyone else", async () => {
    const { _id } = await createThread(ada, { title: "Mine" })
    await expect(exportThread(grace, _id, { format: "json" })).rejects.toMatchObject({ status: 404 })
    await expect(exportThread(ada, "nonsense", { format: "json" })).rejects.toMatchObject({ status: 404 })
  })

  it.each([
    ["Tides", "attachment; filename=Tides.md"],
    ["../../etc/passwd", "attachment; filename=-..-etc-passwd.md"],
    ['a"; filename="evil.exe', 'attachment; filename="a-; filename=-evil.exe.md"'],
    ["C:\\con", "attachment; filename=C--con.md"],
    ["con", "attachment; filename=_con.md"],
    ["...", "attachment; filename=conversation.md"],
    ["\u202egpj.exe", "attachment; filename=gpj.exe.md"],
    [
      "Meer & Küste",
      /^attachment; filename="Meer & K.ste\.md"(; filename\*=UTF-8''Meer%20%26%20K%C3%BCste\.md)?$/,
    ],
    ["海🌊", /; filename\*=UTF-8''%E6%B5%B7%F0%9F%8C%8A\.md$/],
    ["%41%2e%2e", /^attachment; /],
    ["\u{1F30A}".repeat(100), /^attachment; /],
  ])("titled %j gets a file name that every system can save", async (title, disposition) => {
    const { _id } = await createThread(ada, { title })
    const { headers } = await exportThread(ada, _id, { format: "markdown" })
    const said = headers.get("content-disposition") ?? ""
    if (typeof disposition === "string") expect(said).toBe(disposition)
    else expect(said).toMatch(disposition)
    expect(said.length).toBeLessThan(1100)
    expect(said).not.toMatch(/[^\x20-\x7e\xa0-\xff]/)
  })

  it.each([
    ["an open code block", "Look:\n\n```ts\nconst a = 1"],
    ["one with more backticks", "````md\n```\ninside\n```\n## not a heading"],
    ["one of tildes", "~~~\ncode\n```"],
    ["a closed one", "```\ncode\n```"],
    ["one closed by too few", "````\ncode\n```"],
    ["an invalid one with backticks in its first line", "``` a`b\n\ntext"],
    ["an indented one", "  ```\n  code"],
    ["one in a list", "- item\n  ```\n  code in the list"],
    ["one in a list's second paragraph", "1. item\n\n   ```\n   code in the list"],
    ["one after a list", "- item\n\n```\ncode"],
    ["one right after a list", "- item\n```\ncode"],
    ["one in a quotation", "> ```\n> code"],
    ["one nested in another", "    ```\n    indented code"],
    ["a rule that looks like a list", "* * *\n  ```\n  code"],
    ["an open comment", "<!-- what follows is gone"],
    ["a closed comment", "<!-- gone -->\n\ntext"],
    ["open script", "<script>\nalert(1)"],
    ["open pre", "<PRE>\n\ntext"],
    ["an open processing instruction", "<?php\n\necho"],
    ["open CDATA", "<![CDATA[\n\ntext"],
    ["an open declaration", "<!DOCTYPE\n\nhtml"],
    ["very many backticks", "`".repeat(100_000)],
    ["Windows line endings", "```\r\ncode\r\n"],
    ["a long line", `${"- ".repeat(20_000)}x`],
  ])("keeps %s from swallowing what follows", async (_, content) => {
    const { _id } = await createThread(ada, { title: "Blocks" })
    const values = [content, "The end."].map((one) => ({
      userId: ada.viewer.user._id,
      threadId: _id,
      role: "user" as const,
      content: one,
    }))
    for (const value of values) await chat.db.insert(chatMessages).values(value)
    const text = await (await exportThread(ada, _id, { format: "markdown" })).text()
    expect(text).toContain(content.trimEnd())
    if (content.length < 10_000)
      expect(headings(text).filter((one) => one.startsWith("You,"))).toHaveLength(2)
    expect(headings(text.slice(text.lastIndexOf("\n## You")))).toHaveLength(1)
  })

  it("leaves Markdown alone that closes what it opens", () => {
    for (const whole of ["text", "```\ncode\n```", "- a\n- b", "<b>bold</b>", ""]) {
      expect(closeBlocks(whole)).toBe(whole)
    }
  })
})

function headings(markdown: string) {
  const tokens = createParser().parse(markdown, {})
  return tokens.flatMap(({ type, level }, at) =>
    type === "heading_open" && level === 0 ? [tokens[at + 1]!.content] : [],
  )
}

async function ask(threadId: string, text: string, replaces?: string) {
  const question = { requestId: crypto.randomUUID(), text, again: false, replaces }
  await readAll((await startReply(ada, threadId, question)).chunks)
}

async function fill({ db, viewer }: ChatScope, threadId: string, count: number) {
  for (let i = 0; i < count; i++) {
    await db
      .insert(chatMessages)
      .values({ userId: viewer.user._id, threadId, role: "user", content: `message ${i}` })
  }
}
