import { createOpenAiStreamReader, parseOpenAiAnswer } from './openAiAnswer.ts'
import { buildOpenAiRequest } from './openAiRequest.ts'
import type { Upstream } from './upstream.ts'
import { toUpstreamError } from './upstreamFailure.ts'

/** Chat completions of OpenAI, Moonshot, Qwen and local servers. */
export const openAiUpstream: Upstream = {
  write: buildOpenAiRequest,
  readAnswer: parseOpenAiAnswer,
  streamReader: createOpenAiStreamReader,
  readFailure: toUpstreamError,
}
