import { createGeminiStreamReader, geminiAnswer } from './geminiAnswer.ts'
import { geminiRequest } from './geminiRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

export const geminiUpstream: Upstream = {
  write: geminiRequest,
  readAnswer: geminiAnswer,
  streamReader: createGeminiStreamReader,
  readFailure: toUpstreamError,
}
