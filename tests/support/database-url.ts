/** The template of every test database. */
export const TEMPLATE = "tideline_template"

/** The URL of another database on the same server. */
export function databaseUrl(cluster: string, name: string): string {
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return url.href
}
