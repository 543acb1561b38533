/** What each test database is a copy of. */
export const TEMPLATE = "tideline_template"

/** The address of another database on the same server. */
export function databaseUrl(cluster: string, name: string): string {
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return url.href
}
