import type postgres from "postgres"
import { openPostgres } from "#live/check"

/** Does `work` on a connection of its own. */
export async function withClient<Result>(
  url: string,
  work: (client: postgres.Sql) => Promise<Result>,
): Promise<Result> {
  const client = openPostgres(url, { max: 1, onnotice: () => {}, connect_timeout: 10 })
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
