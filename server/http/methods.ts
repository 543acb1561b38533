import { methodNotAllowed } from "#server/transport/json.ts"

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS"

/** Middleware for a resource route: any other method gets 405, with the allowed ones in `Allow`. */
export function allowMethods(...allowed: Method[]) {
  return ({ request }: { request: Request }, next: () => Promise<Response>): Promise<Response> | Response =>
    allowed.some((method) => method === request.method) ? next() : methodNotAllowed(allowed)
}
