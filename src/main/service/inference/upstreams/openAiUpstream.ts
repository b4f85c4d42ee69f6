import { openAiAnswer, openAiStreamReader } from './openAiAnswer.ts'
import { openAiRequest } from './openAiRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

/** Chat completions: OpenAI, Moonshot, Qwen and local servers. */
export const openAiUpstream: Upstream = {
  write: openAiRequest,
  readAnswer: openAiAnswer,
  streamReader: openAiStreamReader,
  readFailure: toUpstreamError,
}
