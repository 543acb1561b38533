import { execFile } from "node:child_process"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import type { Page } from "playwright-core"
import { takenOver } from "../support/browser.ts"
import { choose, link } from "../support/files-browser.ts"
import { step, type FreshClone } from "./fresh-clone.ts"
import { visit } from "./visitor.ts"

const SERVERS = ["postgres", "postgres-2", "postgres-3"]

/**
 * Loses the primary of the profile replicas twice, with what docs/self-hosting.md says to do: first
 * the original one, which comes back as a standby, and then the one that was promoted. One page stays
 * open all the time, without being loaded again.
 */
export async function walkThroughFailovers(clone: FreshClone, page: Page) {
  const { compose } = clone
  await step(
    "both standbys stream through slots of their own, and each has slots for the others",
    async () => {
      await expectStandbys("postgres", ["postgres-2", "postgres-3"])
      for (const standby of ["postgres-2", "postgres-3"]) await expectSlotsFor(standby)
    },
  )
  await step("npm run doctor has nothing against the servers", expectSound)
  await visit(page, "/dashboard/files?sort=name")
  await takenOver(page)
  await page.evaluate(() => document.body.setAttribute("data-seen", ""))
  await step("a file is stored, and shown", () => store("1 before.txt"))

  const first = await step("the primary is killed, and a standby promoted", () => loseAndPromote("postgres"))
  await step("the other standby follows it", () =>
    expectStandbys(
      first,
      SERVERS.filter((each) => each !== first && each !== "postgres"),
    ),
  )
  await step("a file is stored, and shown on the page that was open", () => store("3 after.txt"))
  await step("the old primary comes back as a standby, and finds its slot", async () => {
    await compose("run", "--rm", "rejoin")
    await compose("up", "-d", "--wait")
    await expectStandbys(
      first,
      SERVERS.filter((each) => each !== first),
    )
    await expectSlotsFor("postgres")
  })
  await step("a file is stored, and shown", () => store("4 with the old primary.txt"))
  await step("everything is taken down, and comes up again with the same primary", async () => {
    await compose("down")
    await compose("up", "-d", "--wait")
    await expectStandbys(
      first,
      SERVERS.filter((each) => each !== first),
    )
  })
  await step("a file is stored, and shown on the page that was open", () => store("5 after all was down.txt"))

  const second = await step(`${first} is killed as well, and another one promoted`, () =>
    loseAndPromote(first),
  )
  await step("a file is stored, and shown on the page that was open", () => store("6 after the second.txt"))
  await step(`${first} is replaced`, async () => {
    await compose("rm", "--stop", "--force", first)
    await promisify(execFile)("docker", ["volume", "rm", `${clone.project}_${first}`])
    await compose("up", "-d", "--wait")
    await expectStandbys(
      second,
      SERVERS.filter((each) => each !== second),
    )
  })
  await step("npm run doctor has nothing against the servers", expectSound)
  await step("nothing that was shown is gone, and the page was never loaded again", async () => {
    await store("7 at the end.txt")
    const names = await namesOn(page)
    if (names.length !== 8) throw new Error(`The page shows ${names.join(", ")}.`)
    if ((await page.locator("body[data-seen]").count()) !== 1) throw new Error("The page was loaded again.")
  })

  /** Through the API, and once a primary accepts it. */
  async function store(name: string) {
    await until(`${name} is stored`, async () => {
      const answer = await page.request.post(`/api/files?name=${encodeURIComponent(name)}`, { data: name })
      if (answer.status() === 201) return true
      if (answer.status() === 503 && answer.headers()["retry-after"] !== undefined) return false
      throw new Error(`The API answered ${answer.status()}: ${await answer.text()}`)
    })
    await link(page, name).waitFor()
  }

  /** Returns which standby is the primary now. */
  async function loseAndPromote(primary: string): Promise<string> {
    await compose("kill", primary)
    // The page goes on sending it until there is a primary again.
    const sent = `2 while ${primary} is gone.txt`
    const refused = page.waitForResponse((response) => response.status() === 503)
    await choose(page, { [sent]: "sent without a primary" })
    await refused
    // As docs/self-hosting.md has it.
    const command = ["run", "--rm", "--no-deps", "database", "node", "build/server/standbys.js"]
    const { stdout } = await compose(...command)
    const best = SERVERS.find((each) => stdout.includes(`Promote ${each}:5432:`))
    if (best === undefined) throw new Error(stdout)
    await query(best, "select pg_promote()")
    await link(page, sent).waitFor()
    return best
  }

  /** Resolves once exactly these stream from a server, each through its own slot. */
  async function expectStandbys(server: string, standbys: readonly string[]) {
    const wanted = standbys.map((each) => `${each} ${slotOf(each)}`)
    await until(`${standbys.join(" and ")} stream from ${server}`, async () => {
      const found = await query(
        server,
        `select application_name || ' ' || slot_name from pg_stat_replication
          join pg_replication_slots on active_pid = pid
          where state = 'streaming' and slot_type = 'physical' order by 1`,
      )
      return found.join() === wanted.toSorted().join()
    })
  }

  async function expectSlotsFor(server: string) {
    const found = await query(
      server,
      "select slot_name from pg_replication_slots where slot_type = 'physical' order by 1",
    )
    const wanted = SERVERS.filter((each) => each !== server).map(slotOf)
    if (found.join() !== wanted.toSorted().join())
      throw new Error(`${server} has the slots ${found.join(", ")}.`)
  }

  async function expectSound() {
    const { stdout } = await compose("exec", "-T", "app", "node", "build/server/doctor.js")
    const found = stdout.split("\n").filter((line) => / Followed /.test(line))
    if (found.length !== SERVERS.length || found.some((line) => !line.startsWith("ok")))
      throw new Error(found.join("\n"))
  }

  async function query(server: string, text: string): Promise<string[]> {
    const { stdout } = await compose("exec", "-T", server, "psql", "-U", "tideline", "-Atc", text)
    return stdout.split("\n").filter((line) => line !== "")
  }
}

const slotOf = (server: string) => server.replaceAll("-", "_")

async function namesOn(page: Page): Promise<string[]> {
  return page
    .getByRole("link")
    .filter({ hasText: /\.txt$/ })
    .allInnerTexts()
}

async function until(what: string, isSo: () => Promise<boolean>) {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await setTimeout(500))
    if (await isSo()) return
  throw new Error(`Waited two minutes until ${what}.`)
}
