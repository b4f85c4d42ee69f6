import type { InnerRequest, Turn } from './innerForm.ts'

/**
 * No tokenizer makes more tokens of a text than it has bytes, and each message, tool and format adds a few tokens of the
 * provider's own frame. An image has a number of tokens of its own that does not depend on its bytes.
 */
const frameTokens = 32
/** The providers scale an image down before they count it; the dearest of the five takes about 3,700 for a large one. */
const imageTokens = 4_096
/** Of tools, the providers write a system prompt of their own: Anthropic documents up to 700 tokens. */
const toolPromptTokens = 1_024

/** More tokens than the input of the request can have. */
export function mostInputTokens(request: InnerRequest): number {
  let most = frameTokens
  for (const turn of request.turns) most += frameTokens + mostOfTurn(turn)
  for (const tool of request.tools) most += frameTokens + bytesOf(tool.name, tool.description, json(tool.parameters))
  if (request.tools.length > 0) most += toolPromptTokens
  if (request.format?.type === 'schema') {
    most += frameTokens + bytesOf(request.format.name, request.format.description, json(request.format.schema))
  }
  return most
}

function mostOfTurn(turn: Turn): number {
  let most = 0
  for (const part of turn.parts) {
    most += frameTokens
    switch (part.type) {
      case 'text':
      case 'thinking':
        most += bytesOf(part.text, part.signature?.value)
        break
      case 'redacted':
        most += bytesOf(part.sealed.value)
        break
      case 'image':
        most += imageTokens
        break
      case 'file':
        most += bytesOf(part.base64)
        break
      case 'call':
        most += bytesOf(part.id, part.name, part.arguments, part.signature?.value)
        break
      case 'result':
        most += bytesOf(part.callId, part.name) + mostOfTurn({ role: 'user', parts: part.parts })
        break
    }
  }
  return most
}

function bytesOf(...texts: (string | undefined)[]): number {
  return texts.reduce((sum, text) => sum + (text === undefined ? 0 : Buffer.byteLength(text)), 0)
}

function json(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value)
}
