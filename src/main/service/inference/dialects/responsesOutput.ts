import { formatSseFrame } from '#platform/http/sseEvents.ts'
import type { Signature } from '../canonical/canonical.ts'
import type { JsonObject } from '../json.ts'
import type { ResponseMeta } from './dialect.ts'
import { toResponseHead } from './responsesAnswer.ts'
import {
  createMessageItem,
  createReasoningItem,
  createRefusalContent,
  createTextContent,
  readFreeformInput,
  toCallItem,
  toSealedThinking,
} from './responsesItems.ts'
import type { ResponsesTool } from './responsesTools.ts'

export type OpenItem =
  | { type: 'text' | 'refusal' | 'thinking'; block: number; id: string; text: string; signature?: Signature }
  | { type: 'call'; block: number; id: string; callId: string; name: string; text: string; freeform: boolean }

/** Output items of a streamed response, one of which is open at a time. Methods return frames. */
export type ResponsesOutput = {
  /** Complete items. */
  readonly items: readonly JsonObject[]
  frame(type: string, fields: JsonObject): string
  /** Begins the response. Later calls have no effect. */
  begin(): string
  /** @returns the open item, to whose text the caller appends */
  getOpen(): OpenItem | undefined
  /** Position of the open item in the response. */
  locate(item: OpenItem): { item_id: string; output_index: number }
  /** Closes the open item and opens another one. */
  open(item: OpenItem): string
  /** Adds a complete item. */
  add(item: JsonObject): string
  close(): string
}

export function createResponsesOutput(meta: ResponseMeta, tools: readonly ResponsesTool[]): ResponsesOutput {
  const items: JsonObject[] = []
  let begun = false
  let sequence = 0
  let current: OpenItem | undefined

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

  const locate = (item: OpenItem) => ({ item_id: item.id, output_index: items.length })

  function close(): string {
    if (!current) return ''
    const item = current
    current = undefined
    const [frames, done] = closeItem(item, { location: locate(item), frame, tools })
    const end = frame('response.output_item.done', { output_index: items.length, item: done })
    items.push(done)
    return frames + end
  }

  return {
    items,
    frame,
    begin,
    getOpen: () => current,
    locate,
    open(item) {
      const before = begin() + close()
      current = item
      const started = createStartedItem(item, tools)
      const added = frame('response.output_item.added', { output_index: items.length, item: started })
      return before + added + openContent(item, { location: locate(item), frame })
    },
    add(item) {
      const before = begin() + close()
      const location = { output_index: items.length, item }
      items.push(item)
      return before + frame('response.output_item.added', location) + frame('response.output_item.done', location)
    },
    close,
  }
}

type WriteContext = { location: JsonObject; frame: ResponsesOutput['frame']; tools: readonly ResponsesTool[] }

function createStartedItem(item: OpenItem, tools: readonly ResponsesTool[]): JsonObject {
  if (item.type === 'thinking') return createReasoningItem(item.id, '', undefined)
  if (item.type !== 'call') return createMessageItem(item.id, [], 'in_progress')
  const part = { type: 'call' as const, id: item.callId, name: item.name, arguments: '' }
  return toCallItem({ id: () => item.id, part, tools }, 'in_progress')
}

function openContent(item: OpenItem, { location, frame }: Omit<WriteContext, 'tools'>): string {
  if (item.type === 'call') return ''
  if (item.type === 'thinking') {
    const part = { type: 'summary_text', text: '' }
    return frame('response.reasoning_summary_part.added', { ...location, summary_index: 0, part })
  }
  const part = item.type === 'text' ? createTextContent('') : createRefusalContent('')
  return frame('response.content_part.added', { ...location, content_index: 0, part })
}

/** Closes an item. @returns the frames before its end, and the complete item */
function closeItem(item: OpenItem, { location, frame, tools }: WriteContext): [frames: string, done: JsonObject] {
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
      const done = toCallItem({ id: () => item.id, part, tools })
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
