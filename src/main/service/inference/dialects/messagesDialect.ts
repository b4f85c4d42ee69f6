import { messagesFields } from '../passthrough/messagesFields.ts'
import type { Dialect } from './dialect.ts'
import { createMessagesStreamWriter, messagesAnswer, messagesFailure } from './messagesAnswer.ts'
import { messagesRequest, translatedMessagesFields } from './messagesRequest.ts'

export const messagesDialect: Dialect = {
  name: 'messages',
  fields: messagesFields,
  translatedFields: translatedMessagesFields,
  read: messagesRequest,
  writeAnswer: messagesAnswer,
  streamWriter: createMessagesStreamWriter,
  writeFailure: messagesFailure,
}
