import { type Loose, textAt } from '../looseJson.ts'
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

/** Item ids are removed: the item itself is sent, and an id alone would read data stored in the provider's account. */
const ignoredId: FieldShape = { kind: 'ignored' }

const part = byType('part', {
  text: objectOf(scalars('type', 'text')),
  input_text: objectOf(scalars('type', 'text')),
  output_text: objectOf({
    ...scalars('type', 'text'),
    annotations: listOf(
      byType('annotation', { url_citation: objectOf(scalars('type', 'url', 'title', 'start_index', 'end_index')) }),
    ),
    logprobs: { kind: 'ignored' },
    parsed: { kind: 'ignored' },
  }),
  refusal: objectOf(scalars('type', 'refusal')),
  input_image: objectOf({
    ...scalars('type', 'detail'),
    image_url: either(scalar, objectOf(scalars('url'))),
  }),
  input_file: objectOf(scalars('type', 'file_data', 'filename')),
})
const content = either(scalar, listOf(part))

const item = (fields: Readonly<Record<string, FieldShape>>): FieldShape =>
  objectOf({ ...scalars('type', 'status'), id: ignoredId, ...fields })
const result = item({ ...scalars('call_id'), output: content })
const summary = listOf(objectOf(scalars('type', 'text')))
const message = item({ ...scalars('role', 'phase'), content })

const items: Readonly<Record<string, FieldShape>> = {
  message,
  function_call: item({
    ...scalars('call_id', 'name', 'namespace', 'arguments'),
    parsed_arguments: { kind: 'ignored' },
  }),
  function_call_output: result,
  custom_tool_call: item(scalars('call_id', 'name', 'namespace', 'input')),
  custom_tool_call_output: result,
  local_shell_call: item({
    ...scalars('call_id', 'id'),
    action: objectOf({
      ...scalars('type', 'timeout_ms', 'user', 'working_directory'),
      command: listOf(scalar),
      env: data,
    }),
  }),
  local_shell_call_output: item(scalars('call_id', 'id', 'output')),
  shell_call: item({
    ...scalars('call_id', 'max_output_length'),
    action: objectOf({ ...scalars('timeout_ms', 'max_output_length'), commands: listOf(scalar) }),
  }),
  shell_call_output: item({
    ...scalars('call_id', 'max_output_length'),
    output: listOf(objectOf({ ...scalars('stdout', 'stderr'), outcome: objectOf(scalars('type', 'exit_code')) })),
  }),
  apply_patch_call: item({ ...scalars('call_id'), operation: objectOf(scalars('type', 'path', 'diff')) }),
  apply_patch_call_output: item(scalars('call_id', 'output')),
  // The provider encrypts reasoning for the item with this id.
  reasoning: item({ ...scalars('id', 'encrypted_content'), summary, content: summary }),
}

function itemShape({ type, role, encrypted_content: sealed }: Loose): FieldShape | undefined {
  if (type === undefined || type === null) return typeof role === 'string' ? message : undefined
  // Reasoning without content refers to a stored item.
  if (type === 'reasoning' && typeof sealed !== 'string') return undefined
  return typeof type === 'string' && Object.hasOwn(items, type) ? items[type] : undefined
}

const functionTool = objectOf({ ...scalars('type', 'name', 'description', 'strict'), parameters: data })
const customTool = objectOf({
  ...scalars('type', 'name', 'description'),
  format: objectOf(scalars('type', 'syntax', 'definition')),
})
const grouped = { function: functionTool, custom: customTool }
const tools: Readonly<Record<string, FieldShape>> = {
  ...grouped,
  namespace: objectOf({ ...scalars('type', 'name', 'description'), tools: listOf(byType('tool', grouped)) }),
  local_shell: objectOf(scalars('type')),
  apply_patch: objectOf(scalars('type')),
}
const localShell = objectOf({ type: scalar, environment: objectOf(scalars('type')) })

function toolShape({ type, environment }: Loose): FieldShape | undefined {
  if (type === 'shell') return textAt(environment ?? { type: 'local' }, 'type') === 'local' ? localShell : undefined
  return typeof type === 'string' && Object.hasOwn(tools, type) ? tools[type] : undefined
}

const namedTool = objectOf(scalars('type', 'name'))
const toolChoice = byType('tool_choice', {
  function: namedTool,
  custom: namedTool,
  local_shell: namedTool,
  shell: namedTool,
  apply_patch: namedTool,
  allowed_tools: objectOf({
    ...scalars('type', 'mode'),
    tools: listOf(byType('tool', { function: namedTool, custom: namedTool })),
  }),
})

/** @see https://platform.openai.com/docs/api-reference/responses/create */
export const responsesFields: FieldShape = objectOf({
  ...paidFields,
  ...scalars(
    ...['model', 'instructions', 'stream', 'store', 'background', 'parallel_tool_calls', 'max_output_tokens'],
    ...['max_tool_calls', 'temperature', 'top_p', 'top_logprobs', 'presence_penalty', 'frequency_penalty'],
    ...['prompt_cache_key', 'prompt_cache_retention', 'user', 'truncation', 'safety_identifier'],
  ),
  input: either(scalar, listOf(variant('item', itemShape))),
  stream_options: objectOf(scalars('include_obfuscation')),
  tools: listOf(variant('tool', toolShape)),
  tool_choice: either(scalar, toolChoice),
  text: objectOf({
    verbosity: scalar,
    format: objectOf({ ...scalars('type', 'name', 'description', 'strict'), schema: data }),
  }),
  reasoning: objectOf(scalars('effort', 'summary', 'generate_summary')),
  include: listOf({
    kind: 'scalar',
    values: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  }),
  metadata: data,
  client_metadata: data,
  service_tier: priced('auto', 'default'),
})
