import type { CompletionPart } from '../canonical/answer.ts'
import type { Signature } from '../canonical/canonical.ts'
import { getString, type JsonObject, parseJsonObject } from '../json.ts'
import type { ResponsesTool } from './responsesTools.ts'
import { type SealedPart, sealParts } from './sealParts.ts'

type Items = { tools: readonly ResponsesTool[]; id: (prefix: string) => string }

/** Formats the parts of a completion as output items of Responses. `id` creates their ids. */
export function toOutputItems(parts: readonly CompletionPart[], items: Items): JsonObject[] {
  return parts.flatMap((part) => toItems(part, items))
}

function toItems(part: CompletionPart, { tools, id }: Items): JsonObject[] {
  switch (part.type) {
    case 'text': {
      const text = part.text === '' ? [] : [createMessageItem(id('msg'), [createTextContent(part.text)])]
      return part.signature ? [...text, createSignatureItem(id('rs'), 'text', part.signature)] : text
    }
    case 'refusal':
      return [createMessageItem(id('msg'), [createRefusalContent(part.text)])]
    case 'thinking':
      return [createReasoningItem(id('rs'), part.text, toSealedThinking(part))]
    case 'redacted':
      return [toRedactedItem(id('rs'), part)]
    case 'call': {
      const signed = part.signature ? [createSignatureItem(id('rs'), 'call', part.signature)] : []
      return [...signed, toCallItem({ id, part, tools })]
    }
  }
}

/** Callers return reasoning items unchanged, so a separate one carries the signature. */
export function createSignatureItem(id: string, target: 'call' | 'text', signature: Signature): JsonObject {
  return createReasoningItem(id, '', sealParts([{ type: 'signature', of: target, signature }]))
}

export function createMessageItem(id: string, content: JsonObject[], status = 'completed'): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content }
}

export function createTextContent(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

export function createRefusalContent(refusal: string): JsonObject {
  return { type: 'refusal', refusal }
}

export function createReasoningItem(id: string, text: string, sealed: string | undefined): JsonObject {
  const summary = text === '' ? [] : [{ type: 'summary_text', text }]
  return { id, type: 'reasoning', summary, ...(sealed !== undefined && { encrypted_content: sealed }) }
}

/** Includes the text, because a signed text must be returned byte for byte. */
export function toSealedThinking(part: Extract<SealedPart, { type: 'thinking' }>): string {
  return sealParts([{ type: 'thinking', text: part.text, ...(part.signature && { signature: part.signature }) }])
}

/** Returns OpenAI's own item unchanged; encrypted content of other providers is wrapped in an item of Steward. */
export function toRedactedItem(id: string, { sealed }: Extract<CompletionPart, { type: 'redacted' }>): JsonObject {
  const payload = sealed.origin === 'openai' ? parseJsonObject(sealed.value) : undefined
  return payload ?? createReasoningItem(id, '', sealParts([{ type: 'redacted', sealed }]))
}

export function findToolByName(tools: readonly ResponsesTool[], innerName: string): ResponsesTool | undefined {
  return tools.find((it) => it.innerName === innerName)
}

/** Reads the text of a freeform tool from the single parameter of its function. */
export function readFreeformInput(text: string): string {
  return getString(parseJsonObject(text), 'input') ?? text
}

type Call = {
  id: (prefix: string) => string
  part: Extract<CompletionPart, { type: 'call' }>
  tools: readonly ResponsesTool[]
}

export function toCallItem({ id, part, tools }: Call, status = 'completed'): JsonObject {
  const tool = findToolByName(tools, part.name)
  const name = tool?.name ?? part.name
  const namespace = tool?.namespace === undefined ? {} : { namespace: tool.namespace }
  if (tool?.freeform) {
    const input = readFreeformInput(part.arguments)
    return { id: id('ctc'), type: 'custom_tool_call', status, call_id: part.id, name, ...namespace, input }
  }
  return {
    id: id('fc'),
    type: 'function_call',
    status,
    call_id: part.id,
    name,
    ...namespace,
    arguments: part.arguments,
  }
}
