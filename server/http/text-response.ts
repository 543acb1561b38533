/**
 * A response whose body is known as a whole. The bridge sends `content` in one write. A web stream of it, which costs as much
 * as everything else about a small answer, is only made for whoever asks for one.
 */
export class TextResponse extends Response {
  readonly content: string
  #streamed: Response | undefined

  constructor(content: string, init: ResponseInit = {}) {
    super(null, init)
    this.content = content
  }

  override get body(): Response["body"] {
    return this.#asStream().body
  }

  override get bodyUsed(): boolean {
    return this.#streamed?.bodyUsed ?? false
  }

  override text(): Promise<string> {
    return this.#asStream().text()
  }

  override json(): Promise<unknown> {
    return this.#asStream().json()
  }

  override bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#asStream().bytes()
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    return this.#asStream().arrayBuffer()
  }

  override blob(): Promise<Blob> {
    return this.#asStream().blob()
  }

  override formData(): Promise<FormData> {
    return this.#asStream().formData()
  }

  override clone(): TextResponse {
    if (this.bodyUsed) throw new TypeError("Body has already been consumed.")
    return new TextResponse(this.content, this)
  }

  #asStream() {
    this.#streamed ??= new Response(this.content, { headers: this.headers })
    return this.#streamed
  }
}
