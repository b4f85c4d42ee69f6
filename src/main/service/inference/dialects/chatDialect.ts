import { chatFields } from '../passthrough/chatFields.ts'
import { createChatStreamWriter, toChatAnswer, toChatError } from './chatAnswer.ts'
import { parseChatRequest, translatedChatFields } from './chatRequest.ts'
import type { Dialect } from './dialect.ts'

export const chatDialect: Dialect = {
  name: 'chat',
  fields: chatFields,
  translatedFields: translatedChatFields,
  read: parseChatRequest,
  writeAnswer: toChatAnswer,
  streamWriter: createChatStreamWriter,
  writeFailure: toChatError,
}
