import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { beforeAll, expect, it, onTestFinished } from "vitest"
import { ada as adaLovelace } from "../support/people.ts"
import { makeReadOnly } from "../support/read-only.ts"
import { addSecondFactor } from "../support/second-factor.ts"
import { begin, create, metadataOf } from "../support/uploads.ts"
import { withTideline } from "../support/with-tideline.ts"

const { app, sql, ada, operator } = withTideline({
  settings: { ADMIN_EMAILS: "operator@example.org" },
  people: { ada: adaLovelace, operator: { name: "Operator", email: "operator@example.org" } },
})
beforeAll(async () => {
  await sql`update auth.user set email_verified = true, holder_confirmed = true where email = ${operator.email}`
  await addSecondFactor(operator, operator.password)
})

it("a store that turned read-only refuses each upload with 503 and a sentence, and operators are told", async () => {
  const begun = await begin(ada, "begun.bin", 10)
  expect((await begun.patch(0, randomBytes(5))).status).toBe(204)
  const makeWritable = makeReadOnly(join(app.dataDir, "blobs", "tmp"))
  onTestFinished(makeWritable)

  const refused = {
    "in one request": await ada("/api/files?name=one.txt", { method: "POST", body: "one" }),
    "of a form": await ada("/api/files", { method: "POST", body: formOf("form.txt") }),
    "of nothing": await ada("/api/files?name=none.txt", { method: "POST", body: "" }),
    "created with its bytes": await create(ada, announced("tus.txt", 3), Buffer.from("tus")),
    "created as empty": await create(ada, announced("empty.txt", 0)),
    "that goes on": await begun.patch(5, randomBytes(5)),
    "that begins": await (await begin(ada, "new.bin", 3)).patch(0, Buffer.from("new")),
  }
  for (const [what, response] of Object.entries(refused)) {
    const { error, reason } = (await response.json()) as { error: string; reason: string }
    expect({ what, status: response.status, reason }).toEqual({
      what,
      status: 503,
      reason: "file-store-refuses",
    })
    expect(error).toBe("The server can't store files at the moment. Nothing was changed: try again later.")
  }
  expect((await ada("/api/files")).status).toBe(200)
  expect(await app.logged("the blob store refuses to be written")).toMatchObject({ level: 50 })
  expect(await (await operator("/admin")).text()).toContain("Files can&#x27;t be stored")

  makeWritable()
  expect((await begun.patch(5, randomBytes(5))).status).toBe(204)
  await app.logged("the blob store can be written again")
  expect(await (await operator("/admin")).text()).not.toContain("Files can&#x27;t be stored")
})

function announced(fileName: string, length: number) {
  return { "Upload-Length": String(length), "Upload-Metadata": metadataOf(fileName) }
}

function formOf(fileName: string) {
  const form = new FormData()
  form.append("file", new Blob(["form"]), fileName)
  return form
}
