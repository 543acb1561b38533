import { readPage } from "../read-page.ts"

// Rendered at build time.
const page = readPage("home.html")

export default function Home() {
  return page
}
