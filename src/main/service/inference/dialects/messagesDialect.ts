import { messagesFields } from '../passthrough/messagesFields.ts'
import type { Dialect } from './dialect.ts'
import { createMessagesStreamWriter, toMessagesAnswer, toMessagesError } from './messagesAnswer.ts'
import { parseMessagesRequest, translatedMessagesFields } from './messagesRequest.ts'

export const messagesDialect: Dialect = {
  name: 'messages',
  fields: messagesFields,
  translatedFields: translatedMessagesFields,
  read: parseMessagesRequest,
  writeAnswer: toMessagesAnswer,
  streamWriter: createMessagesStreamWriter,
  writeFailure: toMessagesError,
}
