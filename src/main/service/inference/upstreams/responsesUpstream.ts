import { createResponsesUpstreamStreamReader, responsesUpstreamAnswer } from './responsesUpstreamAnswer.ts'
import { responsesUpstreamRequest } from './responsesUpstreamRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

/** OpenAI's Responses. */
export const responsesUpstream: Upstream = {
  write: responsesUpstreamRequest,
  readAnswer: responsesUpstreamAnswer,
  streamReader: createResponsesUpstreamStreamReader,
  readFailure: toUpstreamError,
}
