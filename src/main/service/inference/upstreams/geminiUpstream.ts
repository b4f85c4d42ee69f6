import { createGeminiStreamReader, parseGeminiAnswer } from './geminiAnswer.ts'
import { buildGeminiRequest } from './geminiRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

export const geminiUpstream: Upstream = {
  write: buildGeminiRequest,
  readAnswer: parseGeminiAnswer,
  streamReader: createGeminiStreamReader,
  readFailure: toUpstreamError,
}
