import { formatSseFrame } from '#platform/http/sseEvents.ts'
import type { Signature } from '../canonical.ts'
import type { InferenceError } from '../inferenceError.ts'
import { getList, type JsonObject } from '../json.ts'
import type { ContentEvent, FinishEvent, ResponseMeta, StreamWriter, UsageReport } from './dialect.ts'
import { createFailedResponse, createFinishedResponse, createItemIds, toResponseHead } from './responsesAnswer.ts'
import {
  callItem,
  createMessageItem,
  createReasoningItem,
  createRefusalContent,
  createSignatureItem,
  createTextContent,
  findToolNamed,
  readFreeformInput,
  toRedactedItem,
  toSealedThinking,
} from './responsesItems.ts'
import { parseResponsesTools } from './responsesTools.ts'

type OpenItem =
  | { type: 'text' | 'refusal' | 'thinking'; block: number; id: string; text: string; signature?: Signature }
  | { type: 'call'; block: number; id: string; callId: string; name: string; text: string; freeform: boolean }

/** @see https://platform.openai.com/docs/api-reference/responses-streaming */
export function createResponsesStreamWriter(meta: ResponseMeta): StreamWriter {
  const tools = parseResponsesTools(getList(meta.requestBody, 'tools'), [])
  const nextId = createItemIds(meta)
  const output: JsonObject[] = []
  let begun = false
  let sequence = 0
  let open: OpenItem | undefined

  function frame(type: string, fields: JsonObject): string {
    const data = { type, sequence_number: sequence, ...fields }
    sequence += 1
    return formatSseFrame(data, type)
  }

  function begin(): string {
    if (begun) return ''
    begun = true
    const response = toResponseHead(meta)
    return frame('response.created', { response }) + frame('response.in_progress', { response })
  }

  /** Position of the open item in the response. */
  const locate = (item: OpenItem) => ({ item_id: item.id, output_index: output.length })

  function whole(item: JsonObject): string {
    const before = begin() + close()
    const location = { output_index: output.length, item }
    output.push(item)
    return before + frame('response.output_item.added', location) + frame('response.output_item.done', location)
  }

  function openItem(item: OpenItem): string {
    const before = begin() + close()
    open = item
    const added = frame('response.output_item.added', { output_index: output.length, item: createStartedItem(item) })
    if (item.type === 'call') return before + added
    if (item.type === 'thinking') {
      const part = { type: 'summary_text', text: '' }
      return (
        before + added + frame('response.reasoning_summary_part.added', { ...locate(item), summary_index: 0, part })
      )
    }
    const part = item.type === 'text' ? createTextContent('') : createRefusalContent('')
    return before + added + frame('response.content_part.added', { ...locate(item), content_index: 0, part })
  }

  function createStartedItem(item: OpenItem): JsonObject {
    if (item.type === 'thinking') return createReasoningItem(item.id, '', undefined)
    if (item.type !== 'call') return createMessageItem(item.id, [], 'in_progress')
    const part = { type: 'call' as const, id: item.callId, name: item.name, arguments: '' }
    return callItem({ id: () => item.id, part, tools }, 'in_progress')
  }

  function close(): string {
    if (!open) return ''
    const item = open
    open = undefined
    const [frames, done] = closing(item)
    const end = frame('response.output_item.done', { output_index: output.length, item: done })
    output.push(done)
    return frames + end
  }

  /** Closes an item. @returns the frames before its end, and the complete item */
  function closing(item: OpenItem): [frames: string, done: JsonObject] {
    const location = locate(item)
    switch (item.type) {
      case 'text': {
        const part = createTextContent(item.text)
        const text = frame('response.output_text.done', {
          ...location,
          content_index: 0,
          text: item.text,
          logprobs: [],
        })
        return [
          text + frame('response.content_part.done', { ...location, content_index: 0, part }),
          createMessageItem(item.id, [part]),
        ]
      }
      case 'refusal': {
        const part = createRefusalContent(item.text)
        const refusal = frame('response.refusal.done', { ...location, content_index: 0, refusal: item.text })
        return [
          refusal + frame('response.content_part.done', { ...location, content_index: 0, part }),
          createMessageItem(item.id, [part]),
        ]
      }
      case 'thinking': {
        const part = { type: 'summary_text', text: item.text }
        const text = frame('response.reasoning_summary_text.done', { ...location, summary_index: 0, text: item.text })
        const sealed = toSealedThinking({ type: 'thinking', text: item.text, signature: item.signature })
        return [
          text + frame('response.reasoning_summary_part.done', { ...location, summary_index: 0, part }),
          createReasoningItem(item.id, item.text, sealed),
        ]
      }
      case 'call': {
        const part = { type: 'call' as const, id: item.callId, name: item.name, arguments: item.text }
        const done = callItem({ id: () => item.id, part, tools })
        if (!item.freeform) {
          return [
            frame('response.function_call_arguments.done', { ...location, name: done.name, arguments: item.text }),
            done,
          ]
        }
        const input = readFreeformInput(item.text)
        const delta = frame('response.custom_tool_call_input.delta', { ...location, delta: input })
        return [delta + frame('response.custom_tool_call_input.done', { ...location, input }), done]
      }
    }
  }

  function ofText(type: 'text' | 'refusal' | 'thinking', block: number, text: string): string {
    const fresh = open?.block !== block || open.type !== type
    if (fresh && text === '' && type !== 'thinking') return ''
    const before = fresh ? openItem({ type, block, id: nextId(type === 'thinking' ? 'rs' : 'msg'), text: '' }) : ''
    if (!open || text === '') return before
    open.text += text
    const location = locate(open)
    if (type === 'thinking') {
      return before + frame('response.reasoning_summary_text.delta', { ...location, summary_index: 0, delta: text })
    }
    const name = type === 'text' ? 'response.output_text.delta' : 'response.refusal.delta'
    const logprobs = type === 'text' ? { logprobs: [] } : {}
    return before + frame(name, { ...location, content_index: 0, delta: text, ...logprobs })
  }

  function writeEvent(event: ContentEvent): string {
    switch (event.type) {
      case 'start':
        return begin()
      case 'text':
      case 'refusal':
      case 'thinking':
        return ofText(event.type, event.block, event.text)
      case 'signature':
        if (open?.type === 'thinking' && open.block === event.block) {
          open.signature = event.signature
          return ''
        }
        return whole(createSignatureItem(nextId('rs'), 'text', event.signature))
      case 'redacted':
        return whole(toRedactedItem(nextId('rs'), { type: 'redacted', sealed: event.sealed }))
      case 'call': {
        const before = event.signature ? whole(createSignatureItem(nextId('rs'), 'call', event.signature)) : ''
        const freeform = findToolNamed(tools, event.name)?.freeform ?? false
        const id = nextId(freeform ? 'ctc' : 'fc')
        const call = {
          type: 'call' as const,
          block: event.block,
          id,
          callId: event.id,
          name: event.name,
          text: '',
          freeform,
        }
        return before + openItem(call)
      }
      case 'arguments':
        if (open?.type !== 'call' || event.text === '') return ''
        open.text += event.text
        if (open.freeform) return ''
        return frame('response.function_call_arguments.delta', { ...locate(open), delta: event.text })
      case 'usage':
        return ''
    }
  }

  return {
    write: writeEvent,
    finish({ reason, native }: FinishEvent, bill: UsageReport) {
      const before = begin() + close()
      const response = createFinishedResponse(meta, { reason, native, output, bill })
      return (
        before + frame(response.status === 'completed' ? 'response.completed' : 'response.incomplete', { response })
      )
    },
    fail(error: InferenceError) {
      const { reason, message, param } = error
      const failed = frame('response.failed', { response: { ...createFailedResponse(meta, error), output } })
      return failed + frame('error', { code: reason ?? null, message, param: param ?? null })
    },
  }
}
