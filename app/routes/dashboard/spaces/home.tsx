import { href, redirect } from "react-router"
import type { Route } from "./+types/home.ts"

export function loader({ params: { slug } }: Route.LoaderArgs) {
  return redirect(href("/s/:slug/chat", { slug }))
}

/** Without a component the route would be a resource route, and its errors would have no page. */
export default function Home() {
  return null
}
