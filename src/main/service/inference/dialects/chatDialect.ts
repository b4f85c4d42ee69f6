import { chatFields } from '../passthrough/chatFields.ts'
import { chatAnswer, chatFailure, createChatStreamWriter } from './chatAnswer.ts'
import { chatRequest, translatedChatFields } from './chatRequest.ts'
import type { Dialect } from './dialect.ts'

export const chatDialect: Dialect = {
  name: 'chat',
  fields: chatFields,
  translatedFields: translatedChatFields,
  read: chatRequest,
  writeAnswer: chatAnswer,
  streamWriter: createChatStreamWriter,
  writeFailure: chatFailure,
}
