import type { MessageDescriptor } from "@lingui/core"
import { msg } from "@lingui/core/macro"

/**
 * The server's sentences for users, exactly as it writes them, so that they can be translated.
 * Messages for programs are not listed. Placeholders stand for the server's values.
 */
export const serverSentences: MessageDescriptor[] = [
  // Chat
  msg`The conversation couldn't be loaded. Try again.`,
  msg`The reply was stopped.`,
  msg`The tool failed.`,
  msg`The model is busy. Try again in a moment. (Reference ${{ reference: "" }})`,
  msg`The model couldn't reply. Try again. (Reference ${{ reference: "" }})`,
  msg`The model server refused the request. Only the administrator of this site can fix this. (Reference ${{ reference: "" }})`,
  msg`Missing AI_GATEWAY_API_KEY`,
]
