import { json } from "#server/transport/json.ts"

export const handle = { credential: "key", scope: "any" }

/**
 * An address under /api that leads nowhere. The guard has answered 401 already to anyone who is not
 * signed in.
 */
export function loader() {
  return notFound()
}

export function action() {
  return notFound()
}

function notFound() {
  return json({ error: "Not found" }, { status: 404 })
}
