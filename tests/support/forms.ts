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

/** The same, as the fields of a form that only the tests complete. */
export function fieldsFor(operation: { readonly name: string }, values: object, next?: string) {
  return Object.fromEntries(formFor(operation, values, {}, next).body)
}

/** Submits an operation's form as its page has it; if it has several, the last. Throws if it has none. */
export async function submitForm(
  browser: (path: string, init?: RequestInit) => Promise<Response>,
  path: string,
  operation: { readonly name: string },
  fields: Record<string, string> = {},
): Promise<Response> {
  const page = await (await browser(path)).text()
  const forms = [...page.matchAll(/<form.*?<\/form>/gs)].map(([form]) => hiddenFields(form))
  const hidden = forms.findLast((form) => form[OPERATION] === operation.name)
  if (!hidden) throw new Error(`${path} has no form of ${operation.name}.`)
  return browser(path, { method: "POST", body: new URLSearchParams({ ...hidden, ...fields }) })
}

function hiddenFields(form: string): Record<string, string> {
  const found = [...form.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, unescaped(value)]))
}

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&#x27;", "'").replaceAll("&amp;", "&")
}
