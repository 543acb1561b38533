import type postgres from "postgres"
import { withClient } from "./with-client.ts"

/** The rights that a program needs in each schema if it only uses the tables. */
const RIGHTS = [
  { schemas: ["public", "auth", "realtime"], tables: "select, insert, update, delete" },
  { schemas: ["drizzle"], tables: "select" },
]

/**
 * Lets the role of `applicationUrl` use the tables of the database at `url` and read its log, and
 * create databases, but nothing more: it owns no table, so it can alter none. Creates the role if it is missing. Returns
 * its name. Repeat it after migrations, for the objects that they created.
 */
export async function grantToApplication(url: string, applicationUrl: string): Promise<string> {
  const { username, password } = new URL(applicationUrl)
  const role = decodeURIComponent(username)
  if (role === "") throw new Error("The application's database URL names no role.")
  return withClient(url, async (client) => {
    await client.begin(async (sql) => {
      const [own] =
        await sql`select current_user = ${role} as same, quote_ident(current_database()) as database,
          (select rolsuper from pg_roles where rolname = current_user) as super`
      if (own?.["same"])
        throw new Error(
          `${role} is the role that runs the migrations. The application needs a different role.`,
        )
      await makeRole(sql, role, decodeURIComponent(password))
      await sql.unsafe(`grant connect on database ${String(own?.["database"])} to ${quote(role)}`)
      // Makes a slot on a standby ready immediately. Only a superuser may allow it.
      if (own?.["super"])
        await sql.unsafe(`grant execute on function pg_log_standby_snapshot() to ${quote(role)}`)
      for (const { schemas, tables } of RIGHTS) {
        const names = schemas.join(", ")
        await sql.unsafe(`
          grant usage on schema ${names} to ${quote(role)};
          grant ${tables} on all tables in schema ${names} to ${quote(role)};
          grant usage, select, update on all sequences in schema ${names} to ${quote(role)}`)
      }
    })
    return role
  })
}

/**
 * An existing role keeps its rights and gets the password; a superuser is refused. It may create
 * databases if the one who grants it may.
 */
async function makeRole(sql: postgres.TransactionSql, role: string, password: string): Promise<void> {
  const [existing] = await sql`select rolsuper as super from pg_roles where rolname = ${role}`
  if (existing?.["super"])
    throw new Error(`${role} is a superuser. The application needs a role without superuser rights.`)
  const [secret] = await sql`select quote_literal(${password}::text) as literal`
  // A backup is checked by restoring it into a database that exists for the check alone.
  const [own] = await sql`select rolsuper or rolcreatedb as may from pg_roles where rolname = current_user`
  const how = `login ${own?.["may"] ? "createdb " : ""}password ${String(secret?.["literal"])}`
  await sql.unsafe(
    existing ? `alter role ${quote(role)} ${how}` : `create role ${quote(role)} replication ${how}`,
  )
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
