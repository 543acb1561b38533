import { randomBytes } from "node:crypto"
import { begin, offsetOf } from "../support/uploads.ts"
import { createFaults, timed, type Drill } from "./drill.ts"
import { differences, inInstallation } from "./installation.ts"

const SIZE = 1_000_000

export const loseProcess: Drill = {
  name: "process",
  loss: "the process, by SIGKILL, during an upload",
  run: () =>
    inInstallation(async (installation, { person, key }) => {
      const { faults, expect } = createFaults()
      const before = await installation.state({ key })
      const bytes = randomBytes(SIZE)
      const upload = await begin(person, "interrupted.bin", SIZE)
      await upload.patch(0, bytes.subarray(0, SIZE / 2))
      await installation.end("SIGKILL")
      const response = await person("/dashboard").catch(() => null)
      expect(response === null, "A killed process responded.")
      const told = [await installation.readiness(), "alert: TidelineDown"]

      const milliseconds = await timed(async () => {
        await installation.start()
        await installation.whenServing()
      })
      expect(
        differences(before, await installation.state({ key })).length === 0,
        "Something acknowledged is gone.",
      )
      expect((await offsetOf(upload)) === SIZE / 2, "The upload does not resume where it stopped.")
      const done = await upload.patch(SIZE / 2, bytes.subarray(SIZE / 2))
      const id = done.headers.get("tideline-file-id") ?? ""
      const read = Buffer.from(await (await person(`/api/files/${id}`)).arrayBuffer())
      expect(read.equals(bytes), "The resumed upload has other bytes.")
      return {
        seen: ["no response; a proxy answers 502. The upload resumes, and open pages reconnect."],
        told,
        back: "the supervisor starts it again",
        milliseconds,
        lost: "nothing",
        faults,
      }
    }),
}
