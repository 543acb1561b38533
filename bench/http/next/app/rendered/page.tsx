import { readPage } from "../../read-page.ts"

// The same page, rendered for each request.
export const dynamic = "force-dynamic"

const page = readPage("home.html")

export default function Rendered() {
  return page
}
