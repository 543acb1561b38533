/**
 * A response whose body is known as a whole. The bridge sends `content` in one write. Other costly
 * parts of a `Response`, such as a stream of the body, are created on demand.
 */
export class TextResponse implements Response {
  readonly content: string
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  readonly type = "default"
  readonly url = ""
  readonly redirected = false
  #whole: Response | undefined
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | undefined

  constructor(content: string, { status = 200, statusText = "", headers }: ResponseInit = {}) {
    this.content = content
    this.status = status
    this.statusText = statusText
    this.headers = new Headers(headers)
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300
  }

  /**
   * React Router checks for a body several times per response, so the text is encoded only on
   * reading.
   */
  get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return (this.#body ??= streamOf(this.content))
  }

  get bodyUsed(): boolean {
    return this.#whole?.bodyUsed ?? this.#body?.locked ?? false
  }

  text(): Promise<string> {
    return this.#asResponse().text()
  }

  json(): Promise<unknown> {
    return this.#asResponse().json()
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#asResponse().bytes()
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#asResponse().arrayBuffer()
  }

  blob(): Promise<Blob> {
    return this.#asResponse().blob()
  }

  formData(): Promise<FormData> {
    return this.#asResponse().formData()
  }

  clone(): TextResponse {
    if (this.bodyUsed) throw new TypeError("Body has already been consumed.")
    return new TextResponse(this.content, this)
  }

  #asResponse() {
    return (this.#whole ??= new Response(this.body, { headers: this.headers }))
  }
}

// For `instanceof`. None of its inherited properties are used: each is defined above.
Object.setPrototypeOf(TextResponse.prototype, Response.prototype)

function streamOf(content: string) {
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(content))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
