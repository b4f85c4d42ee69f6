import type { InferenceError } from '../inferenceError.ts'
import { getList } from '../json.ts'
import type { ContentEvent, FinishEvent, ResponseMeta, StreamWriter, UsageReport } from './dialect.ts'
import { createFailedResponse, createFinishedResponse, createItemIds } from './responsesAnswer.ts'
import { createSignatureItem, findToolByName, toRedactedItem } from './responsesItems.ts'
import { createResponsesOutput } from './responsesOutput.ts'
import { parseResponsesTools } from './responsesTools.ts'

/** @see https://platform.openai.com/docs/api-reference/responses-streaming */
export function createResponsesStreamWriter(meta: ResponseMeta): StreamWriter {
  const tools = parseResponsesTools(getList(meta.requestBody, 'tools'), [])
  const nextId = createItemIds(meta)
  const output = createResponsesOutput(meta, tools)

  function appendText(type: 'text' | 'refusal' | 'thinking', block: number, text: string): string {
    const open = output.getOpen()
    const fresh = open?.block !== block || open.type !== type
    if (fresh && text === '' && type !== 'thinking') return ''
    const before = fresh ? output.open({ type, block, id: nextId(type === 'thinking' ? 'rs' : 'msg'), text: '' }) : ''
    const item = output.getOpen()
    if (!item || text === '') return before
    item.text += text
    const location = output.locate(item)
    if (type === 'thinking') {
      return (
        before + output.frame('response.reasoning_summary_text.delta', { ...location, summary_index: 0, delta: text })
      )
    }
    const name = type === 'text' ? 'response.output_text.delta' : 'response.refusal.delta'
    const logprobs = type === 'text' ? { logprobs: [] } : {}
    return before + output.frame(name, { ...location, content_index: 0, delta: text, ...logprobs })
  }

  function writeEvent(event: ContentEvent): string {
    const open = output.getOpen()
    switch (event.type) {
      case 'start':
        return output.begin()
      case 'text':
      case 'refusal':
      case 'thinking':
        return appendText(event.type, event.block, event.text)
      case 'signature':
        if (open?.type === 'thinking' && open.block === event.block) {
          open.signature = event.signature
          return ''
        }
        return output.add(createSignatureItem(nextId('rs'), 'text', event.signature))
      case 'redacted':
        return output.add(toRedactedItem(nextId('rs'), { type: 'redacted', sealed: event.sealed }))
      case 'call': {
        const before = event.signature ? output.add(createSignatureItem(nextId('rs'), 'call', event.signature)) : ''
        const freeform = findToolByName(tools, event.name)?.freeform ?? false
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
        return before + output.open(call)
      }
      case 'arguments':
        if (open?.type !== 'call' || event.text === '') return ''
        open.text += event.text
        if (open.freeform) return ''
        return output.frame('response.function_call_arguments.delta', { ...output.locate(open), delta: event.text })
      case 'usage':
        return ''
    }
  }

  return {
    write: writeEvent,
    finish({ reason, native }: FinishEvent, bill: UsageReport) {
      const before = output.begin() + output.close()
      const response = createFinishedResponse(meta, { reason, native, output: output.items, bill })
      return (
        before +
        output.frame(response.status === 'completed' ? 'response.completed' : 'response.incomplete', { response })
      )
    },
    fail(error: InferenceError) {
      const { reason, message, param } = error
      const failed = output.frame('response.failed', {
        response: { ...createFailedResponse(meta, error), output: output.items },
      })
      return failed + output.frame('error', { code: reason ?? null, message, param: param ?? null })
    },
  }
}
