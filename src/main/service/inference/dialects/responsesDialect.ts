import { responsesFields } from '../passthrough/responsesFields.ts'
import { chatFailure } from './chatAnswer.ts'
import type { Dialect } from './dialect.ts'
import { responsesAnswer } from './responsesAnswer.ts'
import { responsesRequest, translatedResponsesFields } from './responsesRequest.ts'
import { createResponsesStreamWriter } from './responsesStream.ts'

export const responsesDialect: Dialect = {
  name: 'responses',
  fields: responsesFields,
  translatedFields: translatedResponsesFields,
  read: responsesRequest,
  writeAnswer: responsesAnswer,
  streamWriter: createResponsesStreamWriter,
  writeFailure: chatFailure,
}
