import { methodNotAllowed } from "#server/transport/json.ts"

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"

/**
 * Middleware for a resource route: any other method gets 405, and hears in `Allow` what there is.
 */
export function allowMethods(...allowed: Method[]) {
  return ({ request }: { request: Request }, next: () => Promise<Response>): Promise<Response> | Response =>
    allowed.some((method) => method === request.method) ? next() : methodNotAllowed(allowed)
}
