import { parseJson } from '#platform/parsing/boundedJson.ts'
import type { AssistantPart, CallPart, Origin, Signature, TextPart } from '../canonical/canonical.ts'
import { getString, type JsonObject, toJsonObject } from '../json.ts'

/**
 * Prefix of Steward's data in fields that callers return unchanged: `encrypted_content` of Responses, `signature` and
 * `data` of Messages. These fields carry the thinking of one provider through the dialect of another.
 */
const sealPrefix = 'steward:'

export type SealedPart =
  | { type: 'thinking'; text: string; signature?: Signature | undefined }
  | { type: 'redacted'; sealed: Signature }
  /** Signature of the next call, or of the preceding text. */
  | { type: 'signature'; of: 'call' | 'text'; signature: Signature }

export function sealParts(parts: readonly SealedPart[]): string {
  return sealPrefix + Buffer.from(JSON.stringify(parts)).toString('base64url')
}

export function isSealedParts(text: string): boolean {
  return text.startsWith(sealPrefix)
}

/** Drops parts that cannot be parsed, because callers may have changed the text. */
export function unsealParts(text: string): SealedPart[] {
  let list: unknown
  try {
    list = parseJson(Buffer.from(text.slice(sealPrefix.length), 'base64url').toString('utf8'))
  } catch {
    return []
  }
  return Array.isArray(list) ? list.flatMap((value) => toPart(toJsonObject(value) ?? {})) : []
}

function toPart(part: JsonObject): SealedPart[] {
  const signature = parseSignature(part.signature)
  const sealed = parseSignature(part.sealed)
  if (part.type === 'thinking') return [{ type: 'thinking', text: getString(part, 'text') ?? '', signature }]
  if (part.type === 'redacted' && sealed) return [{ type: 'redacted', sealed }]
  if (part.type === 'signature' && signature)
    return [{ type: 'signature', of: part.of === 'text' ? 'text' : 'call', signature }]
  return []
}

const origins: readonly Origin[] = ['openai', 'anthropic', 'gemini']

function parseSignature(value: unknown): Signature | undefined {
  const origin = origins.find((it) => it === getString(value, 'origin'))
  const text = getString(value, 'value')
  return origin && text !== undefined ? { origin, value: text } : undefined
}

/** Attaches signatures to the parts that they belong to. */
export function withSignatures(
  parts: readonly (AssistantPart | Extract<SealedPart, { type: 'signature' }>)[],
): AssistantPart[] {
  const signed: AssistantPart[] = []
  let ofCall: Signature | undefined
  for (const part of parts) {
    if (part.type === 'signature') {
      if (part.of === 'call') ofCall = part.signature
      else signText(signed, part.signature)
    } else if (part.type === 'call' && ofCall) {
      signed.push({ ...part, signature: ofCall } satisfies CallPart)
      ofCall = undefined
    } else signed.push(part)
  }
  return signed
}

function signText(parts: AssistantPart[], signature: Signature): void {
  const index = parts.findLastIndex((part) => part.type === 'text')
  const text = parts[index]
  if (text?.type === 'text') parts[index] = { ...text, signature } satisfies TextPart
  else parts.push({ type: 'text', text: '', signature })
}
