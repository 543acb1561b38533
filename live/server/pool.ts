import { openConnectionPool, openOneConnection, type ConnectionPool } from "../postgres/connections.ts"

/**
 * Connections for everything except the stream. With `pooled`, the URL may be that of a pooler that
 * gives each transaction another session: nothing is prepared. Session state is never relied on.
 */
export function openPool(
  databaseUrl: string,
  count: number,
  { pooled = false, clientTimeout }: { pooled?: boolean; clientTimeout?: number } = {},
): ConnectionPool {
  return openConnectionPool(
    count,
    (onclose) => openOneConnection(databaseUrl, { application: "realtime", pooled, onclose }),
    { ...(clientTimeout !== undefined && { clientTimeout }) },
  )
}
