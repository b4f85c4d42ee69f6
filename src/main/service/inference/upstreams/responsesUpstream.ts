import { createResponsesUpstreamStreamReader, parseResponsesUpstreamAnswer } from './responsesUpstreamAnswer.ts'
import { buildResponsesUpstreamRequest } from './responsesUpstreamRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

export const responsesUpstream: Upstream = {
  write: buildResponsesUpstreamRequest,
  readAnswer: parseResponsesUpstreamAnswer,
  streamReader: createResponsesUpstreamStreamReader,
  readFailure: toUpstreamError,
}
