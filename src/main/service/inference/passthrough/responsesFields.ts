import { getString, type JsonObject } from '../json.ts'
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

/**
 * Ids of items are removed: the items themselves are sent, and an id alone would read data stored in the provider's
 * account.
 */
const ignoredId: FieldShape = { kind: 'ignored' }

const part = byType('part', {
  text: objectShape(scalars('type', 'text')),
  input_text: objectShape(scalars('type', 'text')),
  output_text: objectShape({
    ...scalars('type', 'text'),
    annotations: listShape(
      byType('annotation', { url_citation: objectShape(scalars('type', 'url', 'title', 'start_index', 'end_index')) }),
    ),
    logprobs: { kind: 'ignored' },
    parsed: { kind: 'ignored' },
  }),
  refusal: objectShape(scalars('type', 'refusal')),
  input_image: objectShape({
    ...scalars('type', 'detail'),
    image_url: either(scalar, objectShape(scalars('url'))),
  }),
  input_file: objectShape(scalars('type', 'file_data', 'filename')),
})
const content = either(scalar, listShape(part))

const item = (fields: Readonly<Record<string, FieldShape>>): FieldShape =>
  objectShape({ ...scalars('type', 'status'), id: ignoredId, ...fields })
const result = item({ ...scalars('call_id'), output: content })
const summary = listShape(objectShape(scalars('type', 'text')))
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
    action: objectShape({
      ...scalars('type', 'timeout_ms', 'user', 'working_directory'),
      command: listShape(scalar),
      env: data,
    }),
  }),
  local_shell_call_output: item(scalars('call_id', 'id', 'output')),
  shell_call: item({
    ...scalars('call_id', 'max_output_length'),
    action: objectShape({ ...scalars('timeout_ms', 'max_output_length'), commands: listShape(scalar) }),
  }),
  shell_call_output: item({
    ...scalars('call_id', 'max_output_length'),
    output: listShape(
      objectShape({ ...scalars('stdout', 'stderr'), outcome: objectShape(scalars('type', 'exit_code')) }),
    ),
  }),
  apply_patch_call: item({ ...scalars('call_id'), operation: objectShape(scalars('type', 'path', 'diff')) }),
  apply_patch_call_output: item(scalars('call_id', 'output')),
  // The provider encrypts reasoning for the item with this id.
  reasoning: item({ ...scalars('id', 'encrypted_content'), summary, content: summary }),
}

function findItemShape({ type, role, encrypted_content: sealed }: JsonObject): FieldShape | undefined {
  if (type === undefined || type === null) return typeof role === 'string' ? message : undefined
  // Reasoning without content refers to a stored item.
  if (type === 'reasoning' && typeof sealed !== 'string') return undefined
  return typeof type === 'string' && Object.hasOwn(items, type) ? items[type] : undefined
}

const functionTool = objectShape({ ...scalars('type', 'name', 'description', 'strict'), parameters: data })
const customTool = objectShape({
  ...scalars('type', 'name', 'description'),
  format: objectShape(scalars('type', 'syntax', 'definition')),
})
const grouped = { function: functionTool, custom: customTool }
const tools: Readonly<Record<string, FieldShape>> = {
  ...grouped,
  namespace: objectShape({ ...scalars('type', 'name', 'description'), tools: listShape(byType('tool', grouped)) }),
  local_shell: objectShape(scalars('type')),
  apply_patch: objectShape(scalars('type')),
}
const localShell = objectShape({ type: scalar, environment: objectShape(scalars('type')) })

function findToolShape({ type, environment }: JsonObject): FieldShape | undefined {
  if (type === 'shell') return getString(environment ?? { type: 'local' }, 'type') === 'local' ? localShell : undefined
  return typeof type === 'string' && Object.hasOwn(tools, type) ? tools[type] : undefined
}

const namedTool = objectShape(scalars('type', 'name'))
const toolChoice = byType('tool_choice', {
  function: namedTool,
  custom: namedTool,
  local_shell: namedTool,
  shell: namedTool,
  apply_patch: namedTool,
  allowed_tools: objectShape({
    ...scalars('type', 'mode'),
    tools: listShape(byType('tool', { function: namedTool, custom: namedTool })),
  }),
})

/** @see https://platform.openai.com/docs/api-reference/responses/create */
export const responsesFields: FieldShape = objectShape({
  ...paidFields,
  ...scalars(
    ...['model', 'instructions', 'stream', 'store', 'background', 'parallel_tool_calls', 'max_output_tokens'],
    ...['max_tool_calls', 'temperature', 'top_p', 'top_logprobs', 'presence_penalty', 'frequency_penalty'],
    ...['prompt_cache_key', 'prompt_cache_retention', 'user', 'truncation', 'safety_identifier'],
  ),
  input: either(scalar, listShape(variant('item', findItemShape))),
  stream_options: objectShape(scalars('include_obfuscation')),
  tools: listShape(variant('tool', findToolShape)),
  tool_choice: either(scalar, toolChoice),
  text: objectShape({
    verbosity: scalar,
    format: objectShape({ ...scalars('type', 'name', 'description', 'strict'), schema: data }),
  }),
  reasoning: objectShape(scalars('effort', 'summary', 'generate_summary')),
  include: listShape({
    kind: 'scalar',
    values: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
  }),
  metadata: data,
  client_metadata: data,
  service_tier: pricedShape('auto', 'default'),
})
