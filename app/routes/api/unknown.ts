import { json } from "#server/transport/json.ts"

export const handle = { credential: "key", scope: "any" }

/** The guard has already answered 401 to anyone who is not signed in. */
export function loader() {
  return notFound()
}

export function action() {
  return notFound()
}

function notFound() {
  return json({ error: "Not found" }, { status: 404 })
}
