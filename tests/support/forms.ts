import { NEXT, OPERATION, VALUES } from "#server/operations/form-contract.ts"

/** What a browser without JavaScript sends of an operation's form. */
export function formFor(
  operation: { readonly name: string },
  values: object,
  fields: Record<string, string> = {},
  next?: string,
): { method: "POST"; body: URLSearchParams } {
  const body = new URLSearchParams({
    [OPERATION]: operation.name,
    [VALUES]: JSON.stringify(values),
    ...(next !== undefined && { [NEXT]: next }),
    ...fields,
  })
  return { method: "POST", body }
}
