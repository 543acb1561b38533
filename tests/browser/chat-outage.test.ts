import { dirname } from "node:path"
import { expect, onTestFinished, vi } from "vitest"
import { inAll } from "../support/all.ts"
import { spawnTideline } from "../support/spawn-tideline.ts"
import { openFilesBrowser } from "../support/files-browser.ts"

// A browser, a server and a database share the machine with other tests.
vi.setConfig({ testTimeout: 90_000 })

inAll(
  "a reply keeps its text on the screen when the server dies, and shows how it ended once the server is back",
  async () => {
    const { app, open, close } = await openFilesBrowser({})
    onTestFinished(close)
    const page = await open("/dashboard/chat")
    await page.getByRole("textbox", { name: "Your question" }).fill("/slow 60")
    await page.keyboard.press("Enter")
    const answer = page.getByRole("log").getByRole("article").last()
    await answer.getByText("word 3,").waitFor({ timeout: 30_000 })

    const failed = page.waitForEvent("requestfailed")
    process.kill(app.pid, "SIGKILL")
    await app.exited
    // Without its live connection the page polls for the rest of the reply.
    await failed
    expect(await answer.innerText()).toContain("word 3,")

    const settings = { PORT: String(app.port), DATABASE_URL: app.databaseUrl }
    const again = spawnTideline(dirname(app.dataDir), settings)
    onTestFinished(async () => {
      again.child.kill("SIGTERM")
      await again.exited
    })
    await page
      .getByText("The server was interrupted while replying. The text so far is saved.")
      .waitFor({ timeout: 40_000 })
    expect(await answer.innerText()).toContain("word 3,")
  },
)
