import { data } from "react-router"

/** The not-found page needs no JavaScript. */
export const handle = { static: true }

export function loader() {
  throw data(null, { status: 404 })
}

export function action() {
  throw data(null, { status: 404 })
}

/**
 * Never rendered, but without a component the route would be a resource route, and its error would
 * have no page.
 */
export default function NotFound() {
  return null
}
