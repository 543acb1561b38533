import * as v from "valibot"
import { operations } from "#server/operations/contract.ts"
import { LinkId } from "./contract.ts"

/**
 * Declares what can be done with the links to one kind of thing. `of` names the thing, `at` is its
 * path, and `ids` are those of the OpenAPI document.
 */
export function linkOperations<
  const Name extends string,
  Of extends v.ObjectEntries,
  Limits extends v.ObjectEntries,
  Row extends v.GenericSchema,
>(
  name: Name,
  {
    tag,
    missing,
    of,
    limits,
    row,
    at,
    ids,
    refuses,
    once,
  }: {
    tag: string
    missing: "file" | "conversation"
    of: Of
    limits: Limits
    row: Row
    at: { thing: string; link: string }
    ids: { list: string; probe: string; create: string; revoke: string }
    refuses: "too-many-links" | "too-many-conversation-links"
    once?: true
  },
) {
  return operations(name, { tag, missing })({
    listShares: {
      about: `The links to a ${missing}, the newest first.`,
      may: "member",
      input: v.strictObject(of),
      output: v.array(row),
      http: { at: `GET /api/${at.thing}/shares`, id: ids.list, probe: ids.probe, field: "shares" },
    },
    // Responses of mutations are stored in the database, and a link's URL must not be.
    share: {
      about: `Creates a public link to a ${missing}. Its URL is shown here, and ${once ? "again only to a request with the same Idempotency-Key" : "never again"}.`,
      may: "editor",
      input: v.strictObject({ ...of, ...limits }),
      output: v.strictObject({ share: row, url: v.pipe(v.string(), v.url()) }),
      refuses: { conflict: [refuses] },
      http: {
        at: `POST /api/${at.thing}/shares`,
        id: ids.create,
        creates: true,
        ...(once && { once }),
      },
      httpOnly: true,
    },
    revokeShare: {
      about: `Deletes a link to a ${missing}, so that its URL leads nowhere.${missing === "file" ? " Running downloads continue." : ""}`,
      may: "editor",
      missing: "link",
      input: v.strictObject({ shareId: LinkId }),
      http: { at: `DELETE /api/${at.link}/:shareId`, id: ids.revoke },
    },
  })
}
