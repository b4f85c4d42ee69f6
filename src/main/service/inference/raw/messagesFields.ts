import {
  byType,
  data,
  either,
  type FieldShape,
  listOf,
  objectOf,
  paidFields,
  priced,
  scalar,
  scalars,
  variant,
} from './fieldShape.ts'

const cacheControl = objectOf(scalars('type', 'ttl'))

const text = objectOf({ ...scalars('type', 'text'), cache_control: cacheControl })
const image = objectOf({
  type: scalar,
  source: byType('source', {
    base64: objectOf(scalars('type', 'media_type', 'data')),
    url: objectOf(scalars('type', 'url')),
  }),
  cache_control: cacheControl,
})
/** Document URLs are refused when the request is parsed: their size is unknown until the provider fetches them. */
const document = objectOf({
  ...scalars('type', 'title', 'context'),
  source: byType('source', {
    base64: objectOf(scalars('type', 'media_type', 'data')),
    text: objectOf(scalars('type', 'media_type', 'data')),
  }),
  citations: objectOf(scalars('enabled')),
  cache_control: cacheControl,
})
const searchResult = objectOf({
  ...scalars('type', 'source', 'title'),
  content: listOf(byType('block', { text })),
  citations: objectOf(scalars('enabled')),
  cache_control: cacheControl,
})

const userBlock = byType('block', {
  text,
  image,
  document,
  search_result: searchResult,
  tool_result: objectOf({
    ...scalars('type', 'tool_use_id', 'is_error'),
    content: either(scalar, listOf(byType('block', { text, image, document, search_result: searchResult }))),
    cache_control: cacheControl,
  }),
})
const assistantBlock = byType('block', {
  text,
  thinking: objectOf(scalars('type', 'thinking', 'signature')),
  redacted_thinking: objectOf(scalars('type', 'data')),
  tool_use: objectOf({ ...scalars('type', 'id', 'name'), input: data, cache_control: cacheControl }),
})

const message = variant('message', ({ role }): FieldShape => {
  const block = role === 'user' ? userBlock : role === 'assistant' ? assistantBlock : byType('block', { text })
  return objectOf({ role: scalar, content: either(scalar, listOf(block)) })
})

/** Tools that the caller runs. Tools that a provider runs are billed in addition to tokens. */
const callersTools: readonly [RegExp, FieldShape][] = [
  [/^(bash|memory)_\d+$/, objectOf({ ...scalars('type', 'name'), cache_control: cacheControl })],
  [/^text_editor_\d+$/, objectOf({ ...scalars('type', 'name', 'max_characters'), cache_control: cacheControl })],
  [
    /^computer_\d+$/,
    objectOf({
      ...scalars('type', 'name', 'display_width_px', 'display_height_px', 'display_number', 'enable_zoom'),
      cache_control: cacheControl,
    }),
  ],
]
const customTool = objectOf({
  ...scalars('type', 'name', 'description', 'strict', 'eager_input_streaming'),
  input_schema: data,
  input_examples: data,
  cache_control: cacheControl,
})
const tool = variant('tool', ({ type }): FieldShape | undefined => {
  if (type === undefined || type === null || type === 'custom') return customTool
  return typeof type === 'string' ? callersTools.find(([pattern]) => pattern.test(type))?.[1] : undefined
})

/** @see https://docs.anthropic.com/en/api/messages */
export const messagesFields: FieldShape = objectOf({
  ...paidFields,
  ...scalars('model', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k'),
  system: either(scalar, listOf(byType('block', { text }))),
  messages: listOf(message),
  stop_sequences: either(scalar, listOf(scalar)),
  tools: listOf(tool),
  tool_choice: objectOf(scalars('type', 'name', 'disable_parallel_tool_use')),
  thinking: objectOf(scalars('type', 'budget_tokens', 'display')),
  output_config: objectOf({ effort: scalar, format: objectOf({ type: scalar, schema: data }) }),
  metadata: objectOf(scalars('user_id')),
  cache_control: cacheControl,
  service_tier: priced('auto', 'standard_only'),
  speed: priced('standard'),
  inference_geo: priced('global'),
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
export function filterBetas(header: string | undefined): { betas: string | undefined; leftOut: string[] } {
  const names = (header ?? '').split(',').flatMap((it) => (it.trim() === '' ? [] : [it.trim()]))
  const isAllowed = (name: string) => betas.has(name.replace(/-\d{4}-?\d{2}-?\d{2}$/, ''))
  const allowed = names.filter(isAllowed)
  return {
    betas: allowed.length > 0 ? allowed.join(',') : undefined,
    leftOut: names.filter((it) => !isAllowed(it)).map((it) => `anthropic-beta ${it.slice(0, 100)} was left out`),
  }
}
