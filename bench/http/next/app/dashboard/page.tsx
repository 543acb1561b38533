import { cookies } from "next/headers"
import postgres from "postgres"
import { readPage } from "../../read-page.ts"

export const dynamic = "force-dynamic"

const sql = postgres(process.env["DATABASE_URL"] ?? "", { max: 10 })
const page = readPage("dashboard.html")

/** Runs the same queries as Tideline's dashboard and renders the same markup. */
export default async function Dashboard() {
  const token = decodeURIComponent((await cookies()).get("tideline.session_token")?.value ?? "").split(".")[0]
  const [session] = await sql`
    select session.user_id, "user".plan from auth.session join auth."user" on "user".id = session.user_id
    where session.token = ${token ?? ""} and session.expires_at > now()`
  if (!session) return <p>Sign in.</p>
  const [user] = await sql`select * from users where clerk_id = ${session["user_id"]}`
  if (!user) return <p>Sign in.</p>
  const [threads, files, devices, usage, trashed] = await Promise.all([
    sql`select * from chat_threads where user_id = ${user["_id"]} and not trashed order by _creation_time desc limit 30`,
    sql`select * from files where user_id = ${user["_id"]} and not trashed order by _creation_time desc limit 30`,
    sql`select * from devices where user_id = ${user["_id"]}`,
    sql`select used, reserved from file_usage where user_id = ${user["_id"]}`,
    sql`select coalesce(sum(size), 0)::float8 from files where user_id = ${user["_id"]} and trashed`,
  ])
  const rows = [threads, files, devices, usage, trashed].map(({ length }) => length).join(" ")
  return <main data-rows={rows}>{page}</main>
}
