import type { Sql } from "postgres"

/** In the form of `server_version_num`: the version that has what is defined here. */
const COMPLETE = 180_000

/**
 * What the migrations use and PostgreSQL 17 does not have, under the names of PostgreSQL 18, where
 * `pg_catalog` comes first. Nothing for newer servers.
 *
 * `uuidv7()` increases within a session, as that of 18 does: rows of one statement are ordered by
 * their ids. Format: RFC 9562, section 5.7, with the microseconds in the 12 bits after the version.
 * The collation maps single letters only (no "ß" to "SS"), which a search in lower case does not
 * notice.
 */
export function additionsFor(version: number): string {
  return version >= COMPLETE ? "" : `${COLLATION}; ${UUIDV7}`
}

/** In the form of `server_version_num`, such as 180004. */
export async function versionOf(sql: Sql): Promise<number> {
  const [server] = await sql<[{ version: number }]>`
    select current_setting('server_version_num')::int as version`
  return server.version
}

/** Undoes `additionsFor`, on any server. */
export const REMOVE_ADDITIONS = `
  drop function if exists public.uuidv7() cascade;
  drop collation if exists public.pg_unicode_fast`

const COLLATION = `
  create collation if not exists public.pg_unicode_fast (provider = builtin, locale = 'C.UTF-8')`

const UUIDV7 = `
  create or replace function public.uuidv7() returns uuid language plpgsql volatile as $$
  declare
    previous bigint := coalesce(nullif(current_setting('tideline.last_uuid', true), ''), '0');
    now bigint := greatest((extract(epoch from clock_timestamp()) * 1000000)::bigint, previous + 1);
  begin
    perform set_config('tideline.last_uuid', now::text, false);
    return (
      lpad(to_hex(now / 1000), 12, '0') ||
      '7' || lpad(to_hex(now % 1000 * 4096 / 1000), 3, '0') ||
      substr(replace(gen_random_uuid()::text, '-', ''), 17)
    )::uuid;
  end $$`
