/**
 * A response whose body is known as a whole. The bridge sends `content` in one write. Other costly
 * parts of a `Response`, such as a stream of the body, are created on demand.
 */
export class TextResponse extends Response {
  readonly content: string
  #whole: Response | undefined
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | undefined

  static {
    for (const read of ["text", "json", "bytes", "arrayBuffer", "blob", "formData"] as const)
      Object.defineProperty(this.prototype, read, {
        value(this: TextResponse) {
          this.#whole ??= new Response(this.body, { headers: this.headers })
          return this.#whole[read]()
        },
      })
  }

  constructor(content: string, init?: ResponseInit) {
    super(null, init)
    this.content = content
  }

  /**
   * React Router checks for a body several times per response, so the text is encoded only on
   * reading.
   */
  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return (this.#body ??= streamOf(this.content))
  }

  override get bodyUsed(): boolean {
    return this.#whole?.bodyUsed ?? this.#body?.locked ?? false
  }

  override clone(): TextResponse {
    if (this.bodyUsed) throw new TypeError("Body has already been consumed.")
    return new TextResponse(this.content, this)
  }
}

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
