import { formatSseFrame } from '#platform/http/sseEvents.ts'
import type { ResponseMeta } from '../dialects/dialect.ts'
import { toResponsesUsage } from '../dialects/responsesAnswer.ts'
import { isSealedParts } from '../dialects/sealParts.ts'
import { getList, getObject, getString, type JsonObject, parseJsonObject, toJsonObject } from '../json.ts'
import { buildResponsesUpstreamRequest } from '../upstreams/responsesUpstreamRequest.ts'
import type { Passthrough } from './passthrough.ts'

const translated = ['model', 'max_output_tokens', 'temperature', 'top_p', 'stream', 'store']
const endEventTypes = ['response.completed', 'response.incomplete']

export const responsesPassthrough: Passthrough = {
  write(body, request, target) {
    const written = buildResponsesUpstreamRequest(request, target)
    const cleaned: Record<string, unknown> = { ...body }
    for (const name of translated) delete cleaned[name]
    for (const name of translated) if (written.body[name] !== undefined) cleaned[name] = written.body[name]
    const include = getList(body, 'include')
    cleaned.include = [...new Set([...include, 'reasoning.encrypted_content'])]
    const tools = getList(cleaned, 'tools').map(isInLocalEnvironment)
    if (tools.length > 0) cleaned.tools = tools
    else {
      delete cleaned.tools
      delete cleaned.tool_choice
      delete cleaned.parallel_tool_calls
    }
    if (Array.isArray(body.input)) cleaned.input = body.input.filter(isPassed)
    return { ...written, body: cleaned }
  },
  answer: (body, answer, meta, bill) =>
    finishResponse(body, { meta, native: answer.native, usage: toResponsesUsage(bill) }),
  relay(meta) {
    let last: JsonObject = {}
    return {
      push({ event, data }) {
        const parsed =
          event?.startsWith('response.') && data.includes('"response":') ? parseJsonObject(data) : undefined
        const type = event ?? getString(parsed, 'type')
        if (type !== undefined && endEventTypes.includes(type)) {
          last = parsed ?? {}
          return ''
        }
        if (type === 'response.failed' || type === 'error') return ''
        if (!parsed) return formatSseFrame(data, event)
        return formatSseFrame({ ...parsed, response: { ...getObject(parsed, 'response'), model: meta.model } }, event)
      },
      finish({ native }, bill) {
        const response = finishResponse(getObject(last, 'response'), {
          meta,
          native,
          usage: toResponsesUsage(bill),
        })
        return formatSseFrame({ ...last, response }, getString(last, 'type'))
      },
    }
  },
}

function finishResponse(
  response: JsonObject,
  { meta, native, usage }: { meta: ResponseMeta; native: string | undefined; usage: JsonObject },
): JsonObject {
  const { cost, warnings } = usage
  meta.onOutput?.(getList(response, 'output'))
  return {
    ...response,
    model: meta.model,
    ...(native !== undefined && { native_finish_reason: native }),
    usage: { ...getObject(response, 'usage'), cost, ...(warnings !== undefined && { warnings }) },
  }
}

/** Sets the local environment. By default, a shell runs in the provider's container. */
function isInLocalEnvironment(tool: unknown): unknown {
  const object = toJsonObject(tool)
  return object?.type === 'shell' ? { ...object, environment: { type: 'local' } } : tool
}

/** Drops reasoning of other families, which OpenAI cannot decrypt. */
function isPassed(item: unknown): boolean {
  const sealed = getString(item, 'encrypted_content')
  return toJsonObject(item)?.type !== 'reasoning' || sealed === undefined || !isSealedParts(sealed)
}
