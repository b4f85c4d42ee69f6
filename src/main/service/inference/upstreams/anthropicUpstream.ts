import { anthropicAnswer, createAnthropicStreamReader } from './anthropicAnswer.ts'
import { anthropicRequest } from './anthropicRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

export const anthropicUpstream: Upstream = {
  write: anthropicRequest,
  readAnswer: anthropicAnswer,
  streamReader: createAnthropicStreamReader,
  readFailure: toUpstreamError,
}
