import { anthropicAnswer, anthropicStreamReader } from './anthropicAnswer.ts'
import { anthropicRequest } from './anthropicRequest.ts'
import type { Upstream } from './upstream.ts'
import { upstreamFailure } from './upstreamFailure.ts'

export const anthropicUpstream: Upstream = {
  write: anthropicRequest,
  readAnswer: anthropicAnswer,
  streamReader: anthropicStreamReader,
  readFailure: upstreamFailure,
}
