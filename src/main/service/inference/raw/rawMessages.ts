import { sseFrame } from '#platform/http/sseEvents.ts'
import { messagesUsage } from '../dialects/messagesAnswer.ts'
import { isSealedParts } from '../dialects/sealedParts.ts'
import { type Loose, listAt, looseObject, objectAt, parsedObject, textAt } from '../looseJson.ts'
import { anthropicRequest } from '../upstreams/anthropicRequest.ts'
import type { RawPass } from './rawPass.ts'

const translated = ['model', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'stream']

export const rawMessages: RawPass = {
  write(body, request, target) {
    const written = anthropicRequest(request, target)
    const kept: Record<string, unknown> = { ...body }
    for (const name of translated) delete kept[name]
    for (const name of translated) if (written.body[name] !== undefined) kept[name] = written.body[name]
    // A budget above what may be answered is refused; thinking that was left out needs its field gone.
    if (objectAt(body, 'thinking').type === 'enabled') {
      if (written.body.thinking === undefined) delete kept.thinking
      else kept.thinking = { ...objectAt(body, 'thinking'), ...objectAt(written.body, 'thinking') }
    }
    const tools = listAt(kept, 'tools')
    if (tools.length === 0) {
      delete kept.tools
      delete kept.tool_choice
    }
    kept.messages = listAt(body, 'messages').map(messageOf).filter(hasContent)
    return { ...written, body: kept }
  },
  answer(body, answer, told, bill) {
    return {
      ...body,
      model: told.model,
      ...(answer.native !== undefined && { native_finish_reason: answer.native }),
      usage: { ...objectAt(body, 'usage'), ...costOf(messagesUsage(bill)) },
    }
  },
  relay(told) {
    let last: Loose = {}
    return {
      push({ event, data }) {
        if (event === 'message_start') {
          const start = parsedObject(data) ?? {}
          return sseFrame({ ...start, message: { ...objectAt(start, 'message'), model: told.model } }, event)
        }
        if (event === 'message_delta') last = parsedObject(data) ?? {}
        const held = event === 'message_delta' || event === 'message_stop' || event === 'error'
        return held ? '' : sseFrame(data, event)
      },
      finish({ native }, bill) {
        const delta = { ...objectAt(last, 'delta'), ...(native !== undefined && { native_finish_reason: native }) }
        const usage = { ...objectAt(last, 'usage'), ...costOf(messagesUsage(bill)) }
        const end = sseFrame({ ...last, type: 'message_delta', delta, usage }, 'message_delta')
        return end + sseFrame({ type: 'message_stop' }, 'message_stop')
      },
    }
  },
}

/** The provider's own counts stand. */
function costOf({ cost, warnings }: Loose): Loose {
  return { cost, ...(warnings !== undefined && { warnings }) }
}

/** Without blank texts, and without thinking of other families, which this provider refuses. */
function messageOf(it: unknown): Loose {
  const message = looseObject(it) ?? {}
  if (!Array.isArray(message.content)) return message
  return { ...message, content: message.content.filter(isTaken) }
}

function isTaken(block: unknown): boolean {
  const type = looseObject(block)?.type
  if (type === 'text') return (textAt(block, 'text') ?? '').trim() !== ''
  if (type === 'thinking') {
    const signature = textAt(block, 'signature') ?? ''
    return signature !== '' && !isSealedParts(signature)
  }
  return type !== 'redacted_thinking' || !isSealedParts(textAt(block, 'data') ?? '')
}

function hasContent({ content }: Loose): boolean {
  return !Array.isArray(content) || content.length > 0
}
