import { chatFailure } from './chatAnswer.ts'
import type { Dialect } from './dialect.ts'
import { responsesAnswer } from './responsesAnswer.ts'
import { responsesRequest } from './responsesRequest.ts'
import { responsesStreamWriter } from './responsesStream.ts'

export const responsesDialect: Dialect = {
  name: 'responses',
  read: responsesRequest,
  writeAnswer: responsesAnswer,
  streamWriter: responsesStreamWriter,
  writeFailure: chatFailure,
}
