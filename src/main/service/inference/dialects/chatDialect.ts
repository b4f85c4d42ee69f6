import { chatAnswer, chatFailure, chatStreamWriter } from './chatAnswer.ts'
import { chatRequest } from './chatRequest.ts'
import type { Dialect } from './dialect.ts'

export const chatDialect: Dialect = {
  name: 'chat',
  read: chatRequest,
  writeAnswer: chatAnswer,
  streamWriter: chatStreamWriter,
  writeFailure: chatFailure,
}
