import { responsesFields } from '../passthrough/responsesFields.ts'
import { toChatError } from './chatAnswer.ts'
import type { Dialect } from './dialect.ts'
import { toResponsesAnswer } from './responsesAnswer.ts'
import { parseResponsesRequest, translatedResponsesFields } from './responsesRequest.ts'
import { createResponsesStreamWriter } from './responsesStream.ts'

export const responsesDialect: Dialect = {
  name: 'responses',
  fields: responsesFields,
  translatedFields: translatedResponsesFields,
  read: parseResponsesRequest,
  writeAnswer: toResponsesAnswer,
  streamWriter: createResponsesStreamWriter,
  writeFailure: toChatError,
}
