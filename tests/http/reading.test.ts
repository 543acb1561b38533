import { beforeAll, expect, it } from "vitest"
import routes from "#app/routes.ts"
import { hashLinkToken } from "#server/link-token.ts"
import { post } from "../support/api.ts"
import { image } from "../support/images.ts"
import { signUp, type Person } from "../support/people.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { laySpace, LINK_TOKEN, SLUG, STANDINGS, THERE, type Standing } from "../support/space-content.ts"
import { pathsOf } from "../support/space-pages.ts"
import { apiRoutes, OTHER_OPERATIONS } from "../support/space-routes.ts"
import { withTideline } from "../support/with-tideline.ts"

let people: Record<Standing, Person>
let ids: Record<Standing, string>
let addresses: string[]
/** Of links that anybody opens. */
let shares: { file: string; chat: string }

const { app, sql } = withTideline({
  settings: { SPACES: "on", DEMO: "on", ADMIN_EMAILS: "owner@example.org" },
  connections: 2,
})

beforeAll(async () => {
  people = byStanding(await Promise.all(STANDINGS.map(enter)))
  await sql`update users set onboarding_completed = true`
  await sql`update auth.user set email_verified = true, holder_confirmed = true`
  const rows = await sql<{ _id: string; email: string }[]>`select _id, email from users`
  ids = byStanding(
    STANDINGS.map((who) => rows.find(({ email }) => email === `${who}@example.org`)?._id ?? ""),
  )
  await addSecondFactor(people.owner, people.owner.password)
  const stored = await people.editor("/api/files?name=photo.png", {
    method: "POST",
    body: new Uint8Array(await image("png", [64, 64])),
  })
  const [photo] = ((await stored.json()) as { files: { _id: string }[] }).files
  await people.owner("/api/files?name=own.txt", { method: "POST", body: "8 bytes." })
  const [row] = await sql`select storage_id from files where file_name = 'own.txt'`
  const storageId = String(row?.["storage_id"])
  await laySpace(sql, ids, { tokenHash: hashLinkToken(LINK_TOKEN), storageId, mark: "of the walk" })
  shares = {
    file: await share(`/api/files/${THERE.fileId}/shares`),
    chat: await share(`/api/chat/threads/${THERE.threadId}/shares`),
  }
  const reads = Object.entries(apiRoutes(ids)).filter(([operation]) => operation.startsWith("GET "))
  const others = OTHER_OPERATIONS.filter((operation) => operation.startsWith("GET "))
  addresses = [
    ...pathsOf(routes).map(fill),
    ...reads.map(([, { path }]) => String(path)),
    ...others.map((operation) => operation.slice("GET ".length)),
    "/api/auth/jwks",
    "/api/auth/api-key/list",
    `/api/files/${photo?._id}/thumbnail`,
    `/api/files/${photo?._id}`,
    "/sign-in?problem=nothing",
  ]
  await record()
})

/** What is noted of reading, by the columns that change. */
const NOTED = {
  "INSERT auth.rate_limit": "",
  "UPDATE auth.rate_limit": "count last_request",
  "UPDATE auth.apikey": "last_address last_request",
  "UPDATE auth.session": "expires_at updated_at",
  "INSERT public.users": "",
  "UPDATE public.users": "language",
  "INSERT public.file_thumbnails": "",
  "UPDATE public.file_shares": "downloads",
}

it("reading everything changes nothing but what is noted of reading", { timeout: 120_000 }, async () => {
  expect(addresses.length).toBeGreaterThan(100)
  expect(addresses.filter((address) => /:(?!\/\/)\w/.test(address))).toEqual([])
  const fresh = await signUp(app, { name: "fresh", email: "fresh@example.org" })
  const keys = [await people.editor.apiKey(), await people.outsider.apiKey()]
  // Of a session that is due for renewal.
  await sql`update auth.session set expires_at = expires_at - interval '3 days' where user_id in
    (select id from auth.user where email = 'reader@example.org')`
  await expect.poll(() => sql`select 1 from mail_outbox where state = 'queued'`).toEqual([])
  await sql`truncate changes`
  const everybody = [...Object.values(people), fresh].map((person) => ({ cookie: person.cookie() }))
  const asked = [{}, ...everybody, ...keys.map((key) => ({ authorization: `Bearer ${key}` }))]
  for (const address of addresses) for (const headers of asked) await read(address, headers)
  const rows = await sql<{ what: string; fields: string }[]>`
    select what, string_agg(distinct field, ' ' order by field) as fields
    from changes left join regexp_split_to_table(coalesce(fields, ''), ' ') as field on true group by what`
  expect(Object.fromEntries(rows.map(({ what, fields }) => [what, fields]))).toEqual(NOTED)
})

/** To the end, or what arrives within a moment of a response that has none. */
async function read(address: string, headers: Record<string, string>) {
  const signal = AbortSignal.timeout(500)
  try {
    const response = await fetch(app.origin + address, { headers, signal, redirect: "manual" })
    expect([address, response.status]).toEqual([address, expect.not.toBeOneOf([500, 502, 503])])
    await response.arrayBuffer()
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function share(path: string) {
  const { url } = (await (await people.editor(path, post({}))).json()) as { url: string }
  return url.split("/").at(-1) ?? ""
}

function fill(path: string): string {
  const parameters: Record<string, string> = {
    ...THERE,
    slug: SLUG,
    userId: ids.reader,
    token: path.startsWith("/join") ? LINK_TOKEN : path.startsWith("/share/chat") ? shares.chat : shares.file,
    uploadId: THERE.spaceId,
    shareId: THERE.fileShareId,
    provider: "none",
    page: "security",
  }
  return path
    .replaceAll(/:(\w+)/g, (whole, name: string) => parameters[name] ?? whole)
    .replace("*", "nowhere")
}

/** Writes down every row that is written from now on, and which of its fields. */
async function record() {
  await sql.unsafe(`
    create table public.changes (what text, fields text);
    create function public.note_change() returns trigger language plpgsql security definer as $$ begin
      insert into public.changes values (tg_op || ' ' || tg_table_schema || '.' || tg_table_name, case when tg_op = 'UPDATE' then
        (select string_agg(after.key, ' ' order by after.key) from jsonb_each_text(to_jsonb(new)) as after
          join jsonb_each_text(to_jsonb(old)) as before using (key) where before.value is distinct from after.value) end);
      return null; end $$`)
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname in ('public', 'auth') and tablename <> 'changes'`
  for (const { name } of tables)
    await sql.unsafe(`create trigger zzz_note_change after insert or update or delete on ${name}
      for each row execute function public.note_change()`)
}

function byStanding<Value>(values: readonly Value[]) {
  return Object.fromEntries(STANDINGS.map((who, at) => [who, values[at]])) as Record<Standing, Value>
}

async function enter(who: Standing): Promise<Person> {
  const person = await signUp(app, { name: who, email: `${who}@example.org` })
  await person("/onboarding")
  return person
}
