import {
  byType,
  data,
  either,
  type FieldShape,
  listShape,
  objectShape,
  paidFields,
  pricedShape,
  scalar,
  scalars,
  variant,
} from './fieldShape.ts'

const cacheControl = objectShape(scalars('type', 'ttl'))

const text = objectShape({ ...scalars('type', 'text'), cache_control: cacheControl })
const image = objectShape({
  type: scalar,
  source: byType('source', {
    base64: objectShape(scalars('type', 'media_type', 'data')),
    url: objectShape(scalars('type', 'url')),
  }),
  cache_control: cacheControl,
})
/**
 * Document URLs are rejected when the request is parsed, because their size is unknown until the provider fetches them.
 */
const document = objectShape({
  ...scalars('type', 'title', 'context'),
  source: byType('source', {
    base64: objectShape(scalars('type', 'media_type', 'data')),
    text: objectShape(scalars('type', 'media_type', 'data')),
  }),
  citations: objectShape(scalars('enabled')),
  cache_control: cacheControl,
})
const searchResult = objectShape({
  ...scalars('type', 'source', 'title'),
  content: listShape(byType('block', { text })),
  citations: objectShape(scalars('enabled')),
  cache_control: cacheControl,
})

const userBlock = byType('block', {
  text,
  image,
  document,
  search_result: searchResult,
  tool_result: objectShape({
    ...scalars('type', 'tool_use_id', 'is_error'),
    content: either(scalar, listShape(byType('block', { text, image, document, search_result: searchResult }))),
    cache_control: cacheControl,
  }),
})
const assistantBlock = byType('block', {
  text,
  thinking: objectShape(scalars('type', 'thinking', 'signature')),
  redacted_thinking: objectShape(scalars('type', 'data')),
  tool_use: objectShape({ ...scalars('type', 'id', 'name'), input: data, cache_control: cacheControl }),
})

const message = variant('message', ({ role }): FieldShape => {
  const block = role === 'user' ? userBlock : role === 'assistant' ? assistantBlock : byType('block', { text })
  return objectShape({ role: scalar, content: either(scalar, listShape(block)) })
})

/** Tools that the caller runs. Tools that a provider runs are billed in addition to tokens. */
const callerTools: readonly [RegExp, FieldShape][] = [
  [/^(bash|memory)_\d+$/, objectShape({ ...scalars('type', 'name'), cache_control: cacheControl })],
  [/^text_editor_\d+$/, objectShape({ ...scalars('type', 'name', 'max_characters'), cache_control: cacheControl })],
  [
    /^computer_\d+$/,
    objectShape({
      ...scalars('type', 'name', 'display_width_px', 'display_height_px', 'display_number', 'enable_zoom'),
      cache_control: cacheControl,
    }),
  ],
]
const customTool = objectShape({
  ...scalars('type', 'name', 'description', 'strict', 'eager_input_streaming'),
  input_schema: data,
  input_examples: data,
  cache_control: cacheControl,
})
const tool = variant('tool', ({ type }): FieldShape | undefined => {
  if (type === undefined || type === null || type === 'custom') return customTool
  return typeof type === 'string' ? callerTools.find(([pattern]) => pattern.test(type))?.[1] : undefined
})

/** @see https://docs.anthropic.com/en/api/messages */
export const messagesFields: FieldShape = objectShape({
  ...paidFields,
  ...scalars('model', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k'),
  system: either(scalar, listShape(byType('block', { text }))),
  messages: listShape(message),
  stop_sequences: either(scalar, listShape(scalar)),
  tools: listShape(tool),
  tool_choice: objectShape(scalars('type', 'name', 'disable_parallel_tool_use')),
  thinking: objectShape(scalars('type', 'budget_tokens', 'display')),
  output_config: objectShape({ effort: scalar, format: objectShape({ type: scalar, schema: data }) }),
  metadata: objectShape(scalars('user_id')),
  cache_control: cacheControl,
  service_tier: pricedShape('auto', 'standard_only'),
  speed: pricedShape('standard'),
  inference_geo: pricedShape('global'),
})

/** Names, without dates, of betas that neither change prices nor access what a provider stores or runs. */
const betas: ReadonlySet<string> = new Set([
  'claude-code',
  'computer-use',
  'effort',
  'extended-cache-ttl',
  'fine-grained-tool-streaming',
  'interleaved-thinking',
  'output-128k',
  'pdfs',
  'prompt-caching',
  'structured-outputs',
  'token-counting',
  'token-efficient-tools',
])

/** Returns the allowed values of the header `anthropic-beta`, and warnings about the rest. */
export function filterBetas(header: string | undefined): { betas: string | undefined; removed: string[] } {
  const names = (header ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
  const isAllowed = (name: string) => betas.has(name.replace(/-\d{4}-?\d{2}-?\d{2}$/, ''))
  const allowed = names.filter(isAllowed)
  return {
    betas: allowed.length > 0 ? allowed.join(',') : undefined,
    removed: names.filter((it) => !isAllowed(it)).map((it) => `anthropic-beta ${it.slice(0, 100)} ignored`),
  }
}
