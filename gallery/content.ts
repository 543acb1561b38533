import type postgres from "postgres"
import sharp from "sharp"
import type { openBrowser } from "../tests/support/people.ts"

type Person = ReturnType<typeof openBrowser>

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/**
 * Files, conversations and a link, as somebody who plans a harbour would have them. Resolves with
 * the URLs of two of them.
 */
export async function fillHarbour(sql: postgres.Sql, ada: Person) {
  const [user] = await sql<{ _id: string }[]>`
    update users set onboarding_completed = true, onboarding_step = 'done' where email = 'ada@example.org' returning _id`
  if (!user) throw new Error("There is no record of Ada.")
  await sql`update auth."user" set email_verified = true where email = 'ada@example.org'`
  const fileIds = await uploadFiles(ada)
  await backdate(sql, fileIds)
  await trash(ada, fileIds.at(-1))
  const [shared] = fileIds
  const made = await ada(`/api/files/${shared}/shares`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  })
  const { url } = (await made.json()) as { url?: string }
  const threads: string[] = []
  for (const [at, conversation] of conversations.entries()) {
    threads.push(await storeConversation(sql, user._id, conversation, Date.now() - at * 7 * HOUR))
  }
  return { thread: `/dashboard/chat/${threads[0]}`, share: new URL(url ?? "/").pathname }
}

async function uploadFiles(ada: Person): Promise<string[]> {
  const ids: string[] = []
  for (const { name, type, bytes } of await files()) {
    const form = new FormData()
    form.append("file", new File([new Uint8Array(bytes)], name, { type }))
    const response = await ada("/api/files", { method: "POST", body: form })
    const answer = (await response.json()) as { files?: { _id: string }[] }
    const id = answer.files?.[0]?._id
    if (!id) throw new Error(`${name} was not stored: ${response.status} ${JSON.stringify(answer)}`)
    ids.unshift(id)
  }
  return ids
}

/** As if they had come one after the other over some days. */
async function backdate(sql: postgres.Sql, ids: string[]) {
  for (const [at, id] of ids.entries()) {
    const moment = Date.now() - Math.round(12 * MINUTE * 3.2 ** at)
    await sql`update files set _creation_time = ${moment} where _id = ${id}`
  }
}

async function trash(ada: Person, id: string | undefined) {
  await ada(`/api/files/${id}`, { method: "DELETE" })
}

async function files() {
  return [
    { name: "old-sketch.txt", type: "text/plain", bytes: Buffer.from("A pier, a lamp, some boats.\n") },
    { name: "moorings.csv", type: "text/csv", bytes: Buffer.from(moorings) },
    { name: "opening-speech.md", type: "text/markdown", bytes: Buffer.from("# Friends of the harbour\n") },
    { name: "north-pier-morning.jpg", type: "image/jpeg", bytes: await seascape("#f4b183", "#31566b") },
    { name: "lighthouse.png", type: "image/png", bytes: await seascape("#b7d7e8", "#2b6a80", "png") },
    { name: "breakwater-at-dusk.jpg", type: "image/jpeg", bytes: await seascape("#7b6a9b", "#1f2f4a") },
    { name: "harbour-plan.pdf", type: "application/pdf", bytes: Buffer.from(pdf) },
  ]
}

const moorings = `berth,boat,metres\n${Array.from({ length: 400 }, (_, at) => `A${at},Boat ${at},${6 + (at % 9)}`).join("\n")}\n`

const pdf = `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n${"%".repeat(90_000)}\ntrailer<</Root 1 0 R>>\n%%EOF\n`

/** A drawing of water under a sky, as a file of some size. */
function seascape(sky: string, water: string, format: "jpeg" | "png" = "jpeg"): Promise<Buffer> {
  const waves = Array.from(
    { length: 14 },
    (_, at) =>
      `<path d="M0 ${560 + at * 36} q 200 ${-22 + at} 400 0 t 400 0 t 400 0 t 400 0" fill="none" stroke="white" stroke-opacity="${0.22 - at * 0.012}" stroke-width="${2 + at / 3}"/>`,
  ).join("")
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="1060"><defs><linearGradient id="s" x2="0" y2="1"><stop stop-color="${sky}" stop-opacity=".55"/><stop offset="1" stop-color="${sky}"/></linearGradient><linearGradient id="w" x2="0" y2="1"><stop stop-color="${water}" stop-opacity=".8"/><stop offset="1" stop-color="${water}"/></linearGradient></defs><rect width="1600" height="1060" fill="white"/><rect width="1600" height="540" fill="url(#s)"/><circle cx="1180" cy="420" r="88" fill="white" fill-opacity=".75"/><path d="M0 540 L300 470 L520 540Z M180 540 L460 430 L820 540Z" fill="${water}" fill-opacity=".45"/><rect y="540" width="1600" height="520" fill="url(#w)"/>${waves}<path d="M980 560 h150 l-26 40 h-100z M1050 556 v-120 l64 112z" fill="#10202b" fill-opacity=".85"/></svg>`
  return sharp(Buffer.from(drawing))[format]({ quality: 90 }).toBuffer()
}

interface Conversation {
  title: string
  turns: [question: string, answer: string][]
}

const conversations: Conversation[] = [
  {
    title: "When can the Fulmar come in?",
    turns: [
      [
        "The Fulmar draws 2.4 m. When can she come in on Tuesday, and which berth is deep enough?",
        `With half a metre to spare she needs **2.9 m** over the sill. On Tuesday that is there twice:

| Tide | From | Until | Highest |
| --- | --- | --- | --- |
| Morning | 06:10 | 10:35 | 3.6 m at 08:20 |
| Evening | 18:45 | 22:50 | 3.4 m at 20:50 |

Of the free berths only **B4** and **B7** are deep enough at low water. B7 lies in the lee of the breakwater, so take that one if the wind is still from the south-west.`,
      ],
      [
        "Good. Write me the query for all boats that draw too much for the A berths.",
        `The A berths have 1.8 m at low water, so with the same half metre:

\`\`\`sql
select boat, draught
from moorings
where berth like 'A%'
  and draught + 0.5 > 1.8
order by draught desc;
\`\`\`

Three rows today. The list is live: move a boat, and it is gone from every screen that shows it.`,
      ],
    ],
  },
  {
    title: "Speech for the opening of the pier",
    turns: [["Make my speech shorter.", "Here it is in four sentences."]],
  },
  {
    title: "Lamp schedule for November",
    turns: [["When do we light the lamps?", "At sunset, less twenty minutes."]],
  },
  {
    title: "Email to the dredging company",
    turns: [["Write to them.", "Dear Sir or Madam, the channel has silted up by 40 cm."]],
  },
]

/** Resolves with the id of the conversation. */
async function storeConversation(
  sql: postgres.Sql,
  userId: string,
  { title, turns }: Conversation,
  at: number,
): Promise<string> {
  const [thread] = await sql<{ _id: string }[]>`
    insert into chat_threads ${sql({ user_id: userId, title, title_source: "user", last_message_at: at })} returning _id`
  if (!thread) throw new Error("The conversation was not stored.")
  for (const [index, [question, answer]] of turns.entries()) {
    const asked = await storeMessage("user", question)
    const answered = await storeMessage("assistant", answer)
    await sql`insert into chat_turns ${sql({
      _id: answered,
      user_id: userId,
      thread_id: thread._id,
      question_id: asked,
      request_id: `request ${index}`,
      status: "completed",
      model: "mistral-small",
    })}`
  }
  return thread._id

  async function storeMessage(role: "user" | "assistant", content: string): Promise<string> {
    const [message] = await sql<{ _id: string }[]>`
      insert into chat_messages ${sql({ user_id: userId, thread_id: thread?._id ?? "", role, content, _creation_time: at })} returning _id`
    return message?._id ?? ""
  }
}
