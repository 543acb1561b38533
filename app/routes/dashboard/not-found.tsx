import { data } from "react-router"

export function loader() {
  throw data(null, { status: 404 })
}

export function action() {
  throw data(null, { status: 404 })
}

/** Never shown, but a route without it would be no page, and its error would get no page either. */
export default function NotFound() {
  return null
}
