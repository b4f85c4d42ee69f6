import { geminiAnswer, geminiStreamReader } from './geminiAnswer.ts'
import { geminiRequest } from './geminiRequest.ts'
import type { Upstream } from './upstream.ts'
import { upstreamFailure } from './upstreamFailure.ts'

export const geminiUpstream: Upstream = {
  write: geminiRequest,
  readAnswer: geminiAnswer,
  streamReader: geminiStreamReader,
  readFailure: upstreamFailure,
}
