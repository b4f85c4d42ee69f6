import type { CanonicalCompletion } from '../canonical/answer.ts'
import { type CanonicalRequest, sumInput, type Turn, type Usage } from '../canonical/canonical.ts'
import { countTokens } from './tokenCount.ts'
import { getMaxInputTokens } from './tokenEstimate.ts'

const imageTokens = 1_000

/**
 * Estimates the usage if the provider reported none or the connection broke: the full input and the received output.
 * Uses the provider's input count from the start if there is one. The output never exceeds the reservation.
 */
export async function estimateUsage(
  request: CanonicalRequest,
  answer: CanonicalCompletion,
  maxOutputTokens: number,
): Promise<Usage> {
  const input = await estimateInput(request)
  const reported = answer.usage
  const hasReported = reported !== undefined && sumInput(reported) > 0
  const texts = answer.parts.map((part) =>
    'text' in part ? part.text : part.type === 'call' ? part.name + part.arguments : '',
  )
  let output = 0
  for (const text of texts) output += await countTokens(text, maxOutputTokens - output)
  return {
    ...(hasReported ? reported : { input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }),
    output: Math.min(Math.max(output, reported?.output ?? 0), maxOutputTokens),
    reasoning: Math.min(reported?.reasoning ?? 0, maxOutputTokens),
  }
}

/** Approximates the providers' counts, whose methods are not documented. */
export async function estimateInput(request: CanonicalRequest): Promise<number> {
  return Math.min(
    (await countTokens(readInputText(request))) + countImages(request) * imageTokens,
    getMaxInputTokens(request),
  )
}

function readInputText(request: CanonicalRequest): string {
  const texts = request.turns.flatMap((turn) => turn.parts.map(toText))
  const tools = request.tools.map((tool) => JSON.stringify([tool.name, tool.description, tool.parameters]))
  return [...texts, ...tools].join('\n')
}

function toText(part: Turn['parts'][number]): string {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return part.text
    case 'call':
      return part.name + part.arguments
    case 'result':
      return part.parts.map(toText).join('\n')
    default:
      return ''
  }
}

function countImages(request: CanonicalRequest): number {
  return request.turns.flatMap((turn) => turn.parts.filter((part) => part.type === 'image')).length
}
