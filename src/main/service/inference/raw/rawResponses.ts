import { sseFrame } from '#platform/http/sseEvents.ts'
import type { Told } from '../dialects/dialect.ts'
import { responsesUsage } from '../dialects/responsesAnswer.ts'
import { isSealedParts } from '../dialects/sealedParts.ts'
import { type Loose, listAt, looseObject, objectAt, parsedObject, textAt } from '../looseJson.ts'
import { responsesUpstreamRequest } from '../upstreams/responsesUpstreamRequest.ts'
import type { RawPass } from './rawPass.ts'

const translated = ['model', 'max_output_tokens', 'temperature', 'top_p', 'stream', 'store']
const ends = ['response.completed', 'response.incomplete']

export const rawResponses: RawPass = {
  write(body, request, target) {
    const written = responsesUpstreamRequest(request, target)
    const kept: Record<string, unknown> = { ...body }
    for (const name of translated) delete kept[name]
    for (const name of translated) if (written.body[name] !== undefined) kept[name] = written.body[name]
    const include = listAt(body, 'include')
    kept.include = [...new Set([...include, 'reasoning.encrypted_content'])]
    const tools = listAt(kept, 'tools').map(inLocalEnvironment)
    if (tools.length > 0) kept.tools = tools
    else {
      delete kept.tools
      delete kept.tool_choice
      delete kept.parallel_tool_calls
    }
    if (Array.isArray(body.input)) kept.input = body.input.filter(isTaken)
    return { ...written, body: kept }
  },
  answer: (body, answer, told, bill) => finished(body, { told, native: answer.native, usage: responsesUsage(bill) }),
  relay(told) {
    let last: Loose = {}
    return {
      push({ event, data }) {
        const parsed = event?.startsWith('response.') && data.includes('"response":') ? parsedObject(data) : undefined
        const type = event ?? textAt(parsed, 'type')
        if (type !== undefined && ends.includes(type)) {
          last = parsed ?? {}
          return ''
        }
        if (type === 'response.failed' || type === 'error') return ''
        if (!parsed) return sseFrame(data, event)
        return sseFrame({ ...parsed, response: { ...objectAt(parsed, 'response'), model: told.model } }, event)
      },
      finish({ native }, bill) {
        const response = finished(objectAt(last, 'response'), {
          told,
          native,
          usage: responsesUsage(bill),
        })
        return sseFrame({ ...last, response }, textAt(last, 'type'))
      },
    }
  },
}

function finished(
  response: Loose,
  { told, native, usage }: { told: Told; native: string | undefined; usage: Loose },
): Loose {
  const { cost, warnings } = usage
  told.onOutput?.(listAt(response, 'output'))
  return {
    ...response,
    model: told.model,
    ...(native !== undefined && { native_finish_reason: native }),
    usage: { ...objectAt(response, 'usage'), cost, ...(warnings !== undefined && { warnings }) },
  }
}

/** Sets the local environment: a shell runs in the provider's container by default. */
function inLocalEnvironment(tool: unknown): unknown {
  const object = looseObject(tool)
  return object?.type === 'shell' ? { ...object, environment: { type: 'local' } } : tool
}

/** Without reasoning of other families, which OpenAI cannot open. */
function isTaken(item: unknown): boolean {
  const sealed = textAt(item, 'encrypted_content')
  return looseObject(item)?.type !== 'reasoning' || sealed === undefined || !isSealedParts(sealed)
}
