/**
 * How many tokens a text takes, without the model's own tokenizer: a third of its UTF-8 bytes. That
 * is more than models count for English (four bytes a token) and code, and about what they count for
 * Chinese, Japanese and Korean (three bytes a character).
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

export const BYTES_PER_TOKEN = 3

/** Role and separators of a message. */
export const MESSAGE_TOKENS = 8

/** What models count for one large image, at most. */
export const IMAGE_TOKENS = 1600

/** The descriptions of all tools. */
export const TOOLS_TOKENS = 700
