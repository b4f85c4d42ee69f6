import { createAnthropicStreamReader, parseAnthropicAnswer } from './anthropicAnswer.ts'
import { buildAnthropicRequest } from './anthropicRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

export const anthropicUpstream: Upstream = {
  write: buildAnthropicRequest,
  readAnswer: parseAnthropicAnswer,
  streamReader: createAnthropicStreamReader,
  readFailure: toUpstreamError,
}
