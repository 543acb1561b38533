import { Tokenizer, TokenParser, TokenType } from "@streamparser/json"
import { JSON_LIMIT } from "#server/transport/json.ts"

/** A body that is too large, or no JSON. */
export class BodyUnfit extends Error {
  readonly status: 400 | 413

  constructor(status: 400 | 413, options?: ErrorOptions) {
    super(status === 413 ? "The body is too large." : "The body is not JSON.", options)
    this.status = status
  }
}

/** Characters of a text in the history. Nobody reads it, but it has to be passed over. */
const LONGEST_TEXT = 1024 * 1024

/** How a file in a message begins. */
const DATA = "data:"

/** Characters from which on a data URL does not count as JSON. */
const SHORT_URL = 1000

/** Of the properties of a message's part, in the body. */
const DEPTH_OF_PART = 5

const LONGEST_NUMBER = 1000

type Token = Parameters<Tokenizer["onToken"]>[0]

/**
 * Parses a large body of `POST /api/chat` while it arrives. With a `threadId` the result has the last
 * of its messages only, and otherwise all of them. What is kept can have as many bytes as any other
 * JSON body, besides the data URLs of the files in messages. Throws BodyUnfit.
 */
export function skimMessages() {
  const tokens = new ShortNumbers({ stringBufferSize: 64 * 1024, emitPartialTokens: true })
  // All but the messages, in whose places it has null.
  const frame = buildValue()
  let message: ReturnType<typeof buildValue> | null = null
  let last: unknown
  let all: unknown[] | null = []
  let costOfAll = 0
  let written = 0
  /** Without the bytes that are being read. */
  let before = 0
  let inUrls = 0
  let depth = 0
  /** Whose value comes next. */
  let property: unknown
  let text: unknown
  let isInMessages = false
  /** Null as long as too little of the string has been read. */
  let isUrl: boolean | null = null
  tokens.onToken = (token) => {
    if (token.token === TokenType.STRING && !isAllowed(token)) throw new BodyUnfit(413)
    if (token.partial) return
    take(token)
    isUrl = null
    if (token.token === TokenType.STRING) text = token.value
    property = token.token === TokenType.COLON ? text : undefined
  }

  return {
    write(bytes: Uint8Array) {
      before = written
      written += bytes.byteLength
      try {
        tokens.write(bytes)
      } catch (error) {
        throw error instanceof BodyUnfit ? error : new BodyUnfit(400, { cause: error })
      }
      if (tokens.hasLongNumber) throw new BodyUnfit(413)
    },
    end(): unknown {
      try {
        tokens.end()
      } catch (error) {
        throw new BodyUnfit(400, { cause: error })
      }
      if (!frame.isWhole()) throw new BodyUnfit(400)
      const body = frame.read()
      if (typeof body !== "object" || body === null || !("messages" in body)) return body
      if (!Array.isArray(body.messages)) return body
      if ("threadId" in body && body.threadId) {
        if (last === DROPPED) throw new BodyUnfit(413)
        return { ...body, messages: last === undefined ? [] : [last] }
      }
      if (!all || written - inUrls > JSON_LIMIT) throw new BodyUnfit(413)
      return { ...body, messages: all }
    },
  }

  /** A URL in base64 takes as many bytes as it has characters, and escapes of its slashes. */
  function isAllowed({ value, offset, partial }: Token): boolean {
    if (typeof value !== "string") return true
    if (!message || depth !== DEPTH_OF_PART || property !== "url") isUrl = false
    else if (!partial || value.length >= DATA.length) isUrl ??= value.startsWith(DATA)
    if (!isUrl) return value.length <= LONGEST_TEXT
    return value.length < SHORT_URL || value.length * 2 > before - offset
  }

  function take(token: Token) {
    const isClosing = token.token === TokenType.RIGHT_BRACE || token.token === TokenType.RIGHT_BRACKET
    const isOpening = token.token === TokenType.LEFT_BRACE || token.token === TokenType.LEFT_BRACKET
    const cost = costOf(token)
    if (!message && isInMessages && depth === 2 && !isClosing && token.token !== TokenType.COMMA)
      message = buildValue()
    if (isOpening) depth++
    if (isClosing) depth--
    if (message) {
      message.add(token, cost)
      if (depth === 2) endMessage(message)
      return
    }
    frame.add(token, cost)
    if (frame.read() === DROPPED) throw new BodyUnfit(413)
    const isBegun = depth === 2 && token.token === TokenType.LEFT_BRACKET && property === "messages"
    if (isBegun) {
      // Of a property that comes twice, the second counts.
      last = undefined
      all = []
    }
    isInMessages = isBegun || (isInMessages && depth >= 2)
  }

  function endMessage(ended: ReturnType<typeof buildValue>) {
    last = ended.read()
    costOfAll += ended.cost()
    if (last === DROPPED || costOfAll > JSON_LIMIT) all = null
    else all?.push(last)
    message = null
    frame.add({ token: TokenType.NULL, value: null, offset: 0 }, 1)
  }

  /** In bytes at least. */
  function costOf({ value }: Token): number {
    if (typeof value !== "string") return 1
    if (!isUrl || value.length < SHORT_URL) return value.length + 2
    inUrls += value.length
    return 1
  }
}

/** Instead of a value that is too large. */
const DROPPED = Symbol("dropped")

function buildValue() {
  const parser = new TokenParser()
  let value: unknown
  let cost = 0
  let isDropped = false
  // The last value that is given is the whole one.
  parser.onValue = (parsed) => {
    value = parsed.value
  }
  return {
    add(token: Token, costs: number) {
      cost += costs
      if (cost > JSON_LIMIT) {
        isDropped = true
        value = DROPPED
      }
      if (!isDropped) parser.write(token)
    },
    read: () => value,
    cost: () => cost,
    isWhole: () => parser.isEnded,
  }
}

/** Converting the digits of a number takes a time that nobody should wait. */
class ShortNumbers extends Tokenizer {
  hasLongNumber = false

  protected override parseNumber(digits: string): number {
    if (digits.length <= LONGEST_NUMBER) return Number(digits)
    this.hasLongNumber = true
    return 0
  }
}
