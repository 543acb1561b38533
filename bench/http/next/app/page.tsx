import { readPage } from "../read-page.ts"

// Rendered when it is built.
const page = readPage("home.html")

export default function Home() {
  return page
}
