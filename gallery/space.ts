import type postgres from "postgres"
import sharp from "sharp"
import { postJson, type openBrowser } from "../tests/support/people.ts"

type Person = ReturnType<typeof openBrowser>

const MINUTE = 60_000

/**
 * A space that Ada shares with two others, with a conversation, files, invitations and a mention of her.
 * Resolves with the URLs of its conversation and of an invitation.
 */
export async function fillSpace(sql: postgres.Sql, ada: Person, others: { editor: string; reader: string }) {
  const made = await postJson(ada, "/api/spaces", { name: "Harbour team" })
  const { space } = (await made.json()) as { space: { _id: string; slug: string } }
  const ids = await findPeople(sql)
  for (const [role, email] of Object.entries(others))
    await sql`insert into space_members ${sql({ space_id: space._id, user_id: ids.get(email)!, role })}`
  await ada(`/api/spaces/${space._id}/picture`, { method: "PUT", body: await drawPicture() })
  const address = `/api/spaces/${space._id}/invitations`
  await postJson(ada, address, { email: "katherine.johnson@example.org", role: "editor" })
  const link = await postJson(ada, address, { role: "reader", maxUses: 20 })
  const { url } = (await link.json()) as { url: string }
  await uploadFiles(sql, ada, space._id, ids.get(others.editor)!)
  const thread = await storeConversation(sql, space._id, ids.get("ada@example.org")!, ids.get(others.editor)!)
  return {
    space: `/s/${space.slug}`,
    spaceThread: `/s/${space.slug}/chat/${thread}`,
    join: new URL(url).pathname,
  }
}

async function findPeople(sql: postgres.Sql): Promise<Map<string, string>> {
  const people = await sql<{ _id: string; email: string }[]>`select _id, email from users`
  return new Map(people.map(({ _id, email }) => [email, _id]))
}

function drawPicture(): Promise<Buffer<ArrayBuffer>> {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="256" height="256" fill="#2b6a80"/><path d="M60 150 h136 l-28 42 h-80z M128 142 v-92 l58 82z" fill="white"/></svg>`
  return sharp(Buffer.from(drawing)).png().toBuffer()
}

async function uploadFiles(sql: postgres.Sql, ada: Person, spaceId: string, other: string) {
  for (const name of [
    "duty-roster.csv",
    "minutes-of-the-harbour-committee-2026-11-and-what-was-left-open.md",
  ]) {
    const form = new FormData()
    form.append("file", new File([`${name}\n`.repeat(40)], name, { type: "text/plain" }))
    const response = await ada(`/api/files?spaceId=${spaceId}`, { method: "POST", body: form })
    if (!response.ok) throw new Error(`${name} was not stored: ${response.status} ${await response.text()}`)
  }
  await sql`update files set user_id = ${other} where space_id = ${spaceId} and file_name = 'duty-roster.csv'`
}

async function storeConversation(
  sql: postgres.Sql,
  spaceId: string,
  ada: string,
  editor: string,
): Promise<string> {
  const at = Date.now() - 40 * MINUTE
  const [thread] = await sql<{ _id: string }[]>`
    insert into chat_threads ${sql({ user_id: ada, space_id: spaceId, title: "A berth for the Fulmar on Sunday", title_source: "user", last_message_at: at })} returning _id`
  const threadId = thread!._id
  const asked = await store(
    editor,
    "user",
    "The Fulmar draws 2.4 m. Which berths are free and deep enough for her on Sunday?",
  )
  const answered = await store(
    editor,
    "assistant",
    `With half a metre to spare she needs **2.9 m** at low water. Two free berths have that:

| Berth | Depth | Sheltered from |
| --- | --- | --- |
| B4 | 3.1 m | east |
| B7 | 3.4 m | south-west, behind the breakwater |

She can come over the sill between **06:10** and **10:35**.`,
  )
  await sql`insert into chat_turns ${sql({ _id: answered, user_id: editor, thread_id: threadId, question_id: asked, request_id: "request", status: "completed", model: "mistral-small" })}`
  await store(ada, "user", "@Grant Allen, B7 it is. The wind stays in the south-west.", ["Grant Allen"])
  const text = "@Ada Lovelace, good. I light the lamp and tell the pilot."
  const mention = await store(editor, "user", text, ["Ada Lovelace"])
  for (const [read, excerpt] of [
    [false, text],
    [
      true,
      "@Ada Lovelace, could you look at the minutes of the committee before Thursday, and tell us what is open?",
    ],
  ] as const)
    await sql`insert into notifications ${sql({ user_id: ada, space_id: spaceId, thread_id: threadId, message_id: mention, author_id: editor, author_name: "Grant Allen", excerpt, read, in_app: true })}`
  return threadId

  async function store(
    userId: string,
    role: "user" | "assistant",
    content: string,
    mentions: string[] | null = null,
  ) {
    const [message] = await sql<{ _id: string }[]>`
      insert into chat_messages ${sql({ user_id: userId, thread_id: threadId, role, content, _creation_time: at, mentions: mentions && sql.json(mentions) })} returning _id`
    return message!._id
  }
}
