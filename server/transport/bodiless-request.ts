import type { IncomingMessage, ServerResponse } from "node:http"

/**
 * A request without a body, created from Node's own. Its headers and signal are created on first
 * use, and so is a web `Request` for everything that is used less often: creating one takes longer
 * than most responses to such requests.
 */
class BodilessRequest {
  readonly method: string
  readonly url: string
  readonly body = null
  readonly bodyUsed = false
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  #headers: Headers | undefined
  #signal: AbortSignal | undefined
  #whole: Request | undefined

  constructor(url: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.method = incoming.method ?? "GET"
    this.url = url
    this.#incoming = incoming
    this.#outgoing = outgoing
  }

  get headers(): Headers {
    return (this.#headers ??= readHeaders(this.#incoming))
  }

  get signal(): AbortSignal {
    return (this.#signal ??= signalOf(this.#outgoing))
  }

  get whole(): Request {
    const { url, method, headers, signal } = this
    return (this.#whole ??= new Request(url, { method, headers, signal }))
  }
}

inheritFromRequest()

export function createBodilessRequest(
  url: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Request {
  return new BodilessRequest(url, incoming, outgoing) as unknown as Request
}

/**
 * `instanceof Request` is true, and parts that it does not have itself are those of the real one.
 */
function inheritFromRequest() {
  const own = BodilessRequest.prototype
  const inherited = Object.getOwnPropertyNames(Request.prototype) as (keyof Request)[]
  for (const name of inherited.filter((each) => !["body", "bodyUsed", "method", "url"].includes(each))) {
    if (Object.hasOwn(own, name)) continue
    Object.defineProperty(own, name, {
      get(this: BodilessRequest) {
        const value: unknown = this.whole[name]
        return typeof value === "function" ? (value.bind(this.whole) as unknown) : value
      },
    })
  }
  Object.setPrototypeOf(own, Request.prototype)
}

export function readHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) headers.append(name, one)
    }
  }
  return headers
}

/** Aborted when the client disconnects before it has its response. */
export function signalOf(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController()
  const notice = () => {
    if (!outgoing.writableFinished) gone.abort()
  }
  if (outgoing.closed) notice()
  else outgoing.on("close", notice)
  return gone.signal
}
