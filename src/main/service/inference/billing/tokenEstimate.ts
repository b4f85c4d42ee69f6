import type { CanonicalRequest, Turn } from '../canonical/canonical.ts'

/**
 * Upper bound. No tokenizer produces more tokens than bytes, and the provider's framing adds a few tokens per message,
 * tool and format. The tokens of images do not depend on their bytes.
 */
const frameTokens = 32
/** Providers scale images down before counting. The highest count for a large image among the five is about 3,700. */
const imageTokens = 4_096
/** Providers add their own system prompt for tools. Anthropic documents up to 700 tokens. */
const toolPromptTokens = 1_024

/** Returns an upper bound on the input tokens of the request. */
export function getMaxInputTokens(request: CanonicalRequest): number {
  let total = frameTokens
  for (const turn of request.turns) total += frameTokens + getMaxTurnTokens(turn)
  for (const tool of request.tools)
    total += frameTokens + countBytes(tool.name, tool.description, stringify(tool.parameters))
  if (request.tools.length > 0) total += toolPromptTokens
  if (request.format?.type === 'schema') {
    total += frameTokens + countBytes(request.format.name, request.format.description, stringify(request.format.schema))
  }
  return total
}

function getMaxTurnTokens(turn: Turn): number {
  let total = 0
  for (const part of turn.parts) {
    total += frameTokens
    switch (part.type) {
      case 'text':
      case 'thinking':
        total += countBytes(part.text, part.signature?.value)
        break
      case 'redacted':
        total += countBytes(part.sealed.value)
        break
      case 'image':
        total += imageTokens
        break
      case 'file':
        total += countBytes(part.base64)
        break
      case 'call':
        total += countBytes(part.id, part.name, part.arguments, part.signature?.value)
        break
      case 'result':
        total += countBytes(part.callId, part.name) + getMaxTurnTokens({ role: 'user', parts: part.parts })
        break
    }
  }
  return total
}

function countBytes(...texts: (string | undefined)[]): number {
  return texts.reduce((sum, text) => sum + (text === undefined ? 0 : Buffer.byteLength(text)), 0)
}

function stringify(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
