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

/** Other types are rejected, by name, when the request is parsed. */
const part = byType('part', {
  text: objectShape({ ...scalars('type', 'text'), cache_control: cacheControl }),
  refusal: objectShape(scalars('type', 'refusal')),
  image_url: objectShape({
    type: scalar,
    image_url: either(scalar, objectShape(scalars('url', 'detail'))),
    cache_control: cacheControl,
  }),
  file: objectShape({ type: scalar, file: objectShape(scalars('file_data', 'filename')), cache_control: cacheControl }),
})

const message = objectShape({
  ...scalars('role', 'name', 'tool_call_id', 'refusal', 'reasoning_content', 'reasoning', 'partial', 'prefix'),
  content: either(scalar, listShape(part)),
  tool_calls: listShape(
    objectShape({
      ...scalars('id', 'type', 'index'),
      function: objectShape({ name: scalar, arguments: data, parsed_arguments: data }),
      extra_content: data,
    }),
  ),
  // Read for other families, and removed before the request is forwarded.
  reasoning_details: data,
  thinking_blocks: data,
  extra_content: data,
  parsed: data,
  cache_control: cacheControl,
  // Echoed by OpenAI's own client.
  annotations: { kind: 'ignored' },
})

const tool = variant('tool', ({ type }): FieldShape | undefined => {
  if (type === undefined || type === null || type === 'function') return functionTool
  return type === 'custom' ? customTool : undefined
})
const functionTool = objectShape({
  type: scalar,
  function: objectShape({ ...scalars('name', 'description', 'strict'), parameters: data, cache_control: cacheControl }),
  cache_control: cacheControl,
})
const customTool = objectShape({
  type: scalar,
  custom: objectShape({ ...scalars('name', 'description'), format: data }),
})

const unstored: FieldShape = { kind: 'never', reason: 'Steward stores no responses' }

/** @see https://platform.openai.com/docs/api-reference/chat/create */
export const chatFields: FieldShape = objectShape({
  ...paidFields,
  ...scalars(
    ...['model', 'max_tokens', 'max_completion_tokens', 'n', 'stream', 'user', 'safety_identifier'],
    ...['temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty', 'logprobs', 'top_logprobs'],
    ...['parallel_tool_calls', 'reasoning_effort', 'verbosity', 'prompt_cache_key', 'prompt_cache_retention'],
    // Fields of Qwen and of local servers.
    ...['enable_thinking', 'thinking_budget', 'preserve_thinking', 'min_p', 'typical_p', 'repetition_penalty'],
    ...['repeat_penalty', 'repeat_last_n', 'min_tokens', 'ignore_eos', 'skip_special_tokens', 'cache_prompt'],
    ...['guided_regex', 'guided_grammar', 'grammar'],
  ),
  stream_options: objectShape(scalars('include_usage', 'include_obfuscation')),
  messages: listShape(message),
  stop: either(scalar, listShape(scalar)),
  tools: listShape(tool),
  tool_choice: either(scalar, objectShape({ type: scalar, function: objectShape(scalars('name')) })),
  response_format: objectShape({
    type: scalar,
    json_schema: objectShape({ ...scalars('name', 'description', 'strict'), schema: data }),
  }),
  reasoning: objectShape(scalars('effort', 'max_tokens', 'enabled', 'exclude', 'summary')),
  thinking: objectShape(scalars('type', 'budget_tokens', 'keep')),
  logit_bias: data,
  cache_control: cacheControl,
  guided_json: data,
  guided_choice: listShape(scalar),
  chat_template_kwargs: data,
  service_tier: pricedShape('auto', 'default'),
  store: { kind: 'scalar', values: [false], reason: 'Steward stores no responses' },
  // Labels for stored completions, which the provider rejects without `store`.
  metadata: unstored,
  functions: listShape(scalar),
  function_call: scalar,
})
