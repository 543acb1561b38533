import { execFileSync } from "node:child_process"
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs"
import { join, resolve } from "node:path"
import { postJson, type Person } from "../support/people.ts"
import { createFaults, timed, type Drill } from "./drill.ts"
import { describe, differences, moveIn, openInstallation, store, until } from "./installation.ts"

const preload = resolve(import.meta.dirname, "full-disk.cjs")

/** Enough for a cluster, its log and a few files. */
const SIZE = "500m"

/**
 * Fills a file system of its own, which holds PostgreSQL and files. Only root may mount one;
 * without, writing files is made to fail in the process, and PostgreSQL has all the space it wants.
 */
export const loseDisk: Drill = {
  name: "disk",
  loss: process.getuid?.() === 0 ? "all free space, of files and PostgreSQL" : "space for files (simulated)",
  async run() {
    const { faults, expect } = createFaults()
    const installation = await openInstallation()
    const disk =
      process.getuid?.() === 0 ? mountDisk(installation.dataDir) : simulateDisk(installation.folder)
    try {
      await installation.start(disk.env)
      const { person, key } = await moveIn(installation)
      const before = await installation.state({ key })
      disk.fill()
      const upload = await person("/api/files?name=late.bin", {
        method: "POST",
        body: Buffer.alloc(3_000_000, 7),
      })
      const seen = [`upload: ${await describe(upload)}`]
      expect(seen[0]?.includes("507") === true, `An upload is answered with ${seen[0]}.`)
      const made = disk.isReal ? await writeUntilRefused(person) : { acknowledged: 0, refusal: null }
      if (made.refusal) seen.push(`change: ${made.refusal}`)
      expect(
        !disk.isReal || made.refusal?.startsWith("503") === true,
        `A change is answered with ${made.refusal}.`,
      )
      const read = await person("/api/files")
      seen.push(`reading: ${read.status}`)
      expect(read.status === 200, `Files cannot be listed: ${read.status}.`)
      const told = [...installation.warnings(), ...(await installation.doctor("Disk"))]
      const free = await installation.metric("tideline_disk_free_bytes")
      if (disk.isReal) {
        expect(free !== null && free < 2e9, "TidelineDiskFull does not fire.")
        told.push(`alert: TidelineDiskFull (${free} bytes free)`)
      }

      const milliseconds = await timed(async () => {
        disk.empty()
        await until(
          async () => (await postJson(person, "/api/chat/threads", { title: "Again" })).status === 201,
        )
        await store(person, "again.bin")
        await installation.whenServing()
      })
      const after = await installation.state({ key })
      const kept = differences(before, after).filter(
        (name) => before[name] !== undefined && name.startsWith("file "),
      )
      expect(kept.length === 0, `These differ: ${kept.join(", ")}.`)
      const threads = Number.parseInt(after["chat_threads"] ?? "", 10)
      expect(
        threads === made.acknowledged + 2,
        `Of ${made.acknowledged + 2} conversations there are ${threads}.`,
      )
      const check = await installation.command("files", "check", "--checksums")
      expect(check.code === 0, check.output)
      return {
        seen,
        told,
        back: "make space (runbook TidelineDiskFull)",
        milliseconds,
        lost: "nothing",
        faults,
      }
    } finally {
      await installation.end("SIGTERM")
      disk.remove()
      await installation.close()
    }
  },
}

/** Creates conversations until the database has no space for another. */
async function writeUntilRefused(person: Person) {
  for (let acknowledged = 0; acknowledged < 3000; acknowledged++) {
    const made = await postJson(person, "/api/chat/threads", { title: `${acknowledged} `.padEnd(200, "x") })
    if (made.status !== 201) return { acknowledged, refusal: await describe(made) }
    await made.body?.cancel()
  }
  return { acknowledged: 3000, refusal: null }
}

function mountDisk(directory: string) {
  mkdirSync(directory, { recursive: true, mode: 0o755 })
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE},mode=0755`, "tmpfs", directory])
  const ballast = join(directory, "ballast")
  return {
    isReal: true,
    env: {},
    fill() {
      const file = openSync(ballast, "w")
      try {
        for (const chunk of [Buffer.alloc(1 << 20), Buffer.alloc(4096)]) fillWith(file, chunk)
      } finally {
        closeSync(file)
      }
    },
    empty: () => rmSync(ballast),
    remove: () => void execFileSync("umount", [directory]),
  }
}

function fillWith(file: number, chunk: Buffer) {
  try {
    for (;;) writeSync(file, chunk)
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error
  }
}

function simulateDisk(folder: string) {
  const flag = join(folder, "disk-full")
  return {
    isReal: false,
    env: { NODE_OPTIONS: `--require ${preload}`, DISK_FULL: flag },
    fill: () => writeFileSync(flag, ""),
    empty: () => rmSync(flag),
    remove: () => {},
  }
}
