import { responsesUpstreamAnswer, responsesUpstreamStreamReader } from './responsesUpstreamAnswer.ts'
import { responsesUpstreamRequest } from './responsesUpstreamRequest.ts'
import type { Upstream } from './upstream.ts'
import { upstreamFailure } from './upstreamFailure.ts'

/** OpenAI's Responses. */
export const responsesUpstream: Upstream = {
  write: responsesUpstreamRequest,
  readAnswer: responsesUpstreamAnswer,
  streamReader: responsesUpstreamStreamReader,
  readFailure: upstreamFailure,
}
