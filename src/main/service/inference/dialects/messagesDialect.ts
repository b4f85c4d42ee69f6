import type { Dialect } from './dialect.ts'
import { messagesAnswer, messagesFailure, messagesStreamWriter } from './messagesAnswer.ts'
import { messagesRequest } from './messagesRequest.ts'

export const messagesDialect: Dialect = {
  name: 'messages',
  read: messagesRequest,
  writeAnswer: messagesAnswer,
  streamWriter: messagesStreamWriter,
  writeFailure: messagesFailure,
}
