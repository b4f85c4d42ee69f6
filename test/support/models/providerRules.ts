/**
 * Validation by each provider, from its public documentation and observed responses. Each function returns the error
 * message, or undefined.
 */

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
type Wire = any
type Rule = (body: Wire, context: RuleContext) => string | undefined

/** Values that the provider issued and accepts only unchanged. */
export type RuleContext = { model: string; signatures: ReadonlySet<string> }

const chatParameters = new Set(
  `messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata
  modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort
  response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
  top_logprobs top_p user verbosity web_search_options`.split(/\s+/),
)
const messageFields = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'audio',
  'function_call',
])

/** https://platform.openai.com/docs/api-reference/chat/create */
export const openAiRules: Rule = (body, { model }) => {
  const unknown = Object.keys(body).find((name) => !chatParameters.has(name))
  if (unknown) return `Unrecognized request argument supplied: ${unknown}`
  if (model.includes('codex')) return 'This model is only supported in v1/responses and not in v1/chat/completions.'
  if (body.max_tokens !== undefined) return "Unsupported parameter: 'max_tokens' is not supported with this model."
  const thinks = model !== 'gpt-5.2' || (body.reasoning_effort ?? 'none') !== 'none'
  for (const name of ['temperature', 'top_p']) {
    if (thinks && body[name] !== undefined && body[name] !== 1)
      return `Unsupported value: '${name}' does not support ${body[name]} with this model.`
  }
  for (const [index, message] of body.messages.entries()) {
    const extra = Object.keys(message).find((name) => !messageFields.has(name))
    if (extra) return `Additional properties are not allowed ('${extra}' was unexpected) - 'messages.${index}'`
  }
  return chatRules(body)
}

/** https://platform.moonshot.ai/docs/api/chat */
export const moonshotRules: Rule = (body) => {
  for (const name of ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'n']) {
    if (body[name] !== undefined) return `invalid ${name}: only its default is allowed for this model`
  }
  for (const [index, message] of body.messages.entries()) {
    if (message.role === 'developer') return `unsupported role ROLE_DEVELOPER at ${index}`
    const blank = typeof message.content === 'string' ? message.content.trim() === '' : message.content?.length === 0
    if (blank && !message.tool_calls && message.role !== 'tool') return `message at position ${index} must not be empty`
    if (message.tool_calls && body.thinking?.type !== 'disabled' && !message.reasoning_content) {
      return `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`
    }
    for (const part of Array.isArray(message.content) ? message.content : []) {
      if (part.type === 'text' && part.text.trim() === '') return 'text content is empty'
      if (part.type === 'image_url' && !part.image_url.url.startsWith('data:'))
        return `unsupported image url: ${part.image_url.url}`
    }
  }
  return chatRules(body)
}

/** https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference */
export const qwenRules: Rule = (body) => {
  if (body.enable_thinking === true && body.stream !== true) {
    return 'parameter.enable_thinking must be set to false for non-streaming calls'
  }
  if (body.messages.some((it: Wire) => it.role === 'developer'))
    return 'developer is not one of [system, assistant, user, tool, function]'
  return chatRules(body)
}

const chatRules = (body: Wire): string | undefined => {
  if (body.tool_choice !== undefined && !body.tools) return "'tool_choice' is only allowed when 'tools' are specified."
  if (body.parallel_tool_calls !== undefined && !body.tools)
    return "'parallel_tool_calls' is only allowed when 'tools' are specified."
  if (body.tools?.length === 0) return "[] is too short - 'tools'"
  if (body.stream_options && !body.stream)
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
  let open = new Set<string>()
  for (const message of body.messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id))
        return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
      continue
    }
    if (open.size > 0)
      return `An assistant message with 'tool_calls' must be followed by tool messages: ${[...open].join(', ')}`
    if (message.role === 'assistant' && message.content === undefined && !message.tool_calls) return 'Missing content.'
    open = new Set((message.tool_calls ?? []).map((it: Wire) => it.id))
  }
  return open.size > 0
    ? `An assistant message with 'tool_calls' must be followed by tool messages: ${[...open].join(', ')}`
    : undefined
}

const responsesParameters = new Set(
  `background client_metadata conversation include input instructions max_output_tokens max_tool_calls metadata model
  parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier
  service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user`.split(
    /\s+/,
  ),
)

/** https://platform.openai.com/docs/api-reference/responses/create */
export const responsesRules: Rule = (body, { signatures }) => {
  const unknown = Object.keys(body).find((name) => !responsesParameters.has(name))
  if (unknown) return `Unknown parameter: '${unknown}'.`
  const calls = new Set<string>()
  for (const [index, item] of (Array.isArray(body.input) ? body.input : []).entries()) {
    if (item.type === 'function_call') calls.add(item.call_id)
    if (item.type === 'function_call_output' && !calls.delete(item.call_id)) {
      return `No tool call found for function call output with call_id ${item.call_id}.`
    }
    if (item.type === 'reasoning' && item.encrypted_content && !signatures.has(item.encrypted_content)) {
      return `The encrypted content of input[${index}] could not be verified.`
    }
  }
  const [missing] = calls
  return missing === undefined ? undefined : `No tool output found for function call ${missing}.`
}

const messagesParameters = new Set(
  `max_tokens messages model cache_control container context_management inference_geo mcp_servers metadata output_config
  service_tier stop_sequences stream system temperature thinking tool_choice tools top_k top_p`.split(/\s+/),
)

/** https://docs.anthropic.com/en/api/messages */
export const anthropicRules: Rule = (body, { model, signatures }) => {
  const unknown = Object.keys(body).find((name) => !messagesParameters.has(name))
  if (unknown) return `${unknown}: Extra inputs are not permitted`
  if (!Number.isInteger(body.max_tokens)) return 'max_tokens: Field required'
  if (body.temperature !== undefined && body.top_p !== undefined)
    return '`temperature` and `top_p` cannot both be specified for this model.'
  if (body.temperature > 1) return 'temperature: range: 0..1'
  if (body.tool_choice && !body.tools) return 'tool_choice: may only be specified while providing tools'
  return thinkingRules(body, model) ?? messagesRules(body, signatures)
}

function thinkingRules({ thinking, ...body }: Wire, model: string): string | undefined {
  if (thinking?.type === 'adaptive' && model !== 'claude-opus-4-6')
    return 'adaptive thinking is not supported on this model'
  if (!thinking || thinking.type === 'disabled') return undefined
  if (body.temperature !== undefined && body.temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.'
  if (body.top_k !== undefined) return '`top_k` must be unset when thinking is enabled.'
  if (['any', 'tool'].includes(body.tool_choice?.type))
    return 'Thinking may not be enabled when tool_choice forces tool use.'
  if (thinking.type !== 'enabled') return undefined
  if (thinking.budget_tokens < 1024)
    return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
  if (thinking.budget_tokens >= body.max_tokens) return '`max_tokens` must be greater than `thinking.budget_tokens`.'
  const last = body.messages.findLast((it: Wire) => it.role === 'assistant')
  const goesOn = body.messages.at(-1)?.content?.[0]?.type === 'tool_result'
  if (goesOn && !/thinking/.test(last?.content?.[0]?.type)) {
    return 'messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.'
  }
  return undefined
}

function messagesRules(body: Wire, signatures: ReadonlySet<string>): string | undefined {
  if (body.messages.length === 0) return 'messages: at least one message is required'
  if (body.messages[0].role !== 'user') return 'messages: first message must use the "user" role'
  const blocks = (content: Wire): Wire[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content)
  for (const block of blocks(body.system ?? []))
    if (block.text.trim() === '') return 'system: text content blocks must be non-empty'
  let open = new Set<string>()
  for (const [index, message] of body.messages.entries()) {
    const content = blocks(message.content)
    if (content.length === 0) return `messages.${index}: all messages must have non-empty content`
    const results = content.filter((it) => it.type === 'tool_result')
    if (results.some((_, index) => content[index].type !== 'tool_result'))
      return `messages.${index}: tool_result blocks must come first`
    for (const { tool_use_id: id } of results)
      if (!open.delete(id)) return `messages.${index}: unexpected \`tool_use_id\`: ${id}`
    if (open.size > 0)
      return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${[...open]}`
    for (const block of content) {
      if (block.type === 'text' && block.text.trim() === '')
        return 'messages: text content blocks must contain non-whitespace text'
      const sealed =
        block.type === 'thinking' ? block.signature : block.type === 'redacted_thinking' ? block.data : undefined
      if (sealed !== undefined && !signatures.has(sealed))
        return `messages.${index}: Invalid \`signature\` in \`thinking\` block`
      if (block.type === 'tool_use' && !/^[a-zA-Z0-9_-]+$/.test(block.id))
        return `messages.${index}: tool_use.id: String should match pattern`
    }
    open = new Set(content.flatMap((value) => (value.type === 'tool_use' ? [value.id] : [])))
  }
  return open.size > 0
    ? `messages: \`tool_use\` ids were found without \`tool_result\` blocks: ${[...open]}`
    : undefined
}

const geminiFields = new Set([
  'contents',
  'tools',
  'toolConfig',
  'safetySettings',
  'systemInstruction',
  'generationConfig',
  'cachedContent',
])
const generationFields = new Set(
  `stopSequences responseMimeType responseSchema responseJsonSchema candidateCount maxOutputTokens temperature topP topK seed
  presencePenalty frequencyPenalty thinkingConfig`.split(/\s+/),
)
const schemaFields = new Set(
  `type format title description nullable enum maxItems minItems properties required minProperties maxProperties minLength
  maxLength pattern example anyOf propertyOrdering default items minimum maximum`.split(/\s+/),
)
const bypass = 'skip_thought_signature_validator'

/** https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thought-signatures */
export const geminiRules: Rule = (body, { model, signatures }) => {
  const unknown =
    Object.keys(body).find((name) => !geminiFields.has(name)) ??
    Object.keys(body.generationConfig ?? {}).find((name) => !generationFields.has(name))
  if (unknown) return `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`
  const level = body.generationConfig?.thinkingConfig?.thinkingLevel
  if (level !== undefined && !model.startsWith('gemini-3')) return 'Thinking level is not supported for this model.'
  const schemas = [
    body.generationConfig?.responseSchema,
    ...(body.tools ?? []).flatMap((tool: Wire) =>
      tool.functionDeclarations.map((declaration: Wire) => declaration.parameters),
    ),
  ]
  for (const schema of schemas) {
    const wrong = schema && schemaFault(schema)
    if (wrong) return wrong
  }
  return contentsRules(body.contents, model, signatures)
}

function schemaFault(schema: Wire): string | undefined {
  const unknown = Object.keys(schema).find((name) => !schemaFields.has(name))
  if (unknown) return `Unknown name "${unknown}" at 'schema': Cannot find field.`
  if (Array.isArray(schema.type)) return "Proto field is not repeating, cannot start list at 'type'."
  if (schema.enum?.some((value: unknown) => typeof value !== 'string' || value === ''))
    return "Invalid value at 'enum' (TYPE_STRING)"
  if (schema.type === 'array' && schema.items === undefined) return 'items: missing field.'
  const nested = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ]
  return nested.map(schemaFault).find((it) => it !== undefined)
}

function contentsRules(contents: Wire[], model: string, signatures: ReadonlySet<string>): string | undefined {
  if (contents.length === 0) return 'contents is not specified'
  let calls: Wire[] = []
  const lastUser = contents.findLastIndex(
    (content) => content.role === 'user' && content.parts.some((part: Wire) => part.text !== undefined),
  )
  for (const [index, { role, parts }] of contents.entries()) {
    if (parts.length === 0) return 'contents.parts must not be empty.'
    const results = parts.filter((it: Wire) => it.functionResponse)
    const names = results.map((it: Wire) => it.functionResponse.name)
    if (names.join() !== calls.map((it) => it.name).join()) {
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    }
    for (const { functionResponse } of results) {
      if (typeof functionResponse.response !== 'object') return 'Invalid value at functionResponse.response'
      if (JSON.stringify(functionResponse.response).includes('"$ref":')) return 'Unresolved $ref in function response'
    }
    calls = parts.flatMap((part: Wire) => (part.functionCall ? [part.functionCall] : []))
    const [first] = parts.filter((it: Wire) => it.functionCall)
    if (role === 'model' && first && model.startsWith('gemini-3') && index > lastUser && !first.thoughtSignature) {
      return `Function call is missing a thought_signature in functionCall parts: ${first.functionCall.name}`
    }
    for (const part of parts) {
      if (part.text === '' && !part.thoughtSignature)
        return 'Unable to submit request because it must have a text parameter.'
      const signature = part.thoughtSignature
      if (signature !== undefined && signature !== bypass && !signatures.has(signature))
        return 'Thought signature is not valid.'
    }
  }
  return calls.length > 0 ? 'The function call turn comes without its responses.' : undefined
}
