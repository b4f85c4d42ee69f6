import { formatSseFrame } from '#platform/http/sseEvents.ts'
import { toMessagesUsage } from '../dialects/messagesAnswer.ts'
import { isSealedParts } from '../dialects/sealParts.ts'
import { getList, getObject, getString, type JsonObject, parseJsonObject, toJsonObject } from '../json.ts'
import { buildAnthropicRequest } from '../upstreams/anthropicRequest.ts'
import type { Passthrough } from './passthrough.ts'

const translated = ['model', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'stream']

export const messagesPassthrough: Passthrough = {
  write(body, request, target) {
    const written = buildAnthropicRequest(request, target)
    const cleaned: Record<string, unknown> = { ...body }
    for (const name of translated) delete cleaned[name]
    for (const name of translated) if (written.body[name] !== undefined) cleaned[name] = written.body[name]
    // A budget above the maximum output is rejected. Omitted thinking requires that its field is removed too.
    if (getObject(body, 'thinking').type === 'enabled') {
      if (written.body.thinking === undefined) delete cleaned.thinking
      else cleaned.thinking = { ...getObject(body, 'thinking'), ...getObject(written.body, 'thinking') }
    }
    const tools = getList(cleaned, 'tools')
    if (tools.length === 0) {
      delete cleaned.tools
      delete cleaned.tool_choice
    }
    cleaned.messages = getList(body, 'messages').map(toMessage).filter(hasContent)
    return { ...written, body: cleaned }
  },
  answer(body, answer, meta, bill) {
    return {
      ...body,
      model: meta.model,
      ...(answer.native !== undefined && { native_finish_reason: answer.native }),
      usage: { ...getObject(body, 'usage'), ...pickCost(toMessagesUsage(bill)) },
    }
  },
  relay(meta) {
    let last: JsonObject = {}
    return {
      push({ event, data }) {
        if (event === 'message_start') {
          const start = parseJsonObject(data) ?? {}
          return formatSseFrame({ ...start, message: { ...getObject(start, 'message'), model: meta.model } }, event)
        }
        if (event === 'message_delta') last = parseJsonObject(data) ?? {}
        const isDeferred = event === 'message_delta' || event === 'message_stop' || event === 'error'
        return isDeferred ? '' : formatSseFrame(data, event)
      },
      finish({ native }, bill) {
        const delta = { ...getObject(last, 'delta'), ...(native !== undefined && { native_finish_reason: native }) }
        const usage = { ...getObject(last, 'usage'), ...pickCost(toMessagesUsage(bill)) }
        const end = formatSseFrame({ ...last, type: 'message_delta', delta, usage }, 'message_delta')
        return end + formatSseFrame({ type: 'message_stop' }, 'message_stop')
      },
    }
  },
}

/** The provider's own counts are unchanged. */
function pickCost({ cost, warnings }: JsonObject): JsonObject {
  return { cost, ...(warnings !== undefined && { warnings }) }
}

/** Drops blank texts and thinking of other families, which this provider rejects. */
function toMessage(value: unknown): JsonObject {
  const message = toJsonObject(value) ?? {}
  if (!Array.isArray(message.content)) return message
  return { ...message, content: message.content.filter(isPassed) }
}

function isPassed(block: unknown): boolean {
  const type = toJsonObject(block)?.type
  if (type === 'text') return (getString(block, 'text') ?? '').trim() !== ''
  if (type === 'thinking') {
    const signature = getString(block, 'signature') ?? ''
    return signature !== '' && !isSealedParts(signature)
  }
  return type !== 'redacted_thinking' || !isSealedParts(getString(block, 'data') ?? '')
}

function hasContent({ content }: JsonObject): boolean {
  return !Array.isArray(content) || content.length > 0
}
