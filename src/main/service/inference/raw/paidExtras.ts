import { type Loose, looseObject } from '../looseJson.ts'

/** Fields that change the price of a token, or are paid beside tokens. A value listed changes nothing. */
const priced = Object.entries<readonly unknown[]>({
  service_tier: ['auto', 'default', 'standard_only'],
  speed: ['standard'],
  inference_geo: ['global'],
  web_search_options: [],
  prediction: [],
  modalities: [],
  audio: [],
  mcp_servers: [],
  container: [],
  moderation: [],
})

/** Tools that the caller runs. All others are run by the provider, which bills them apart. */
const ownTools =
  /^(function|custom|namespace|local_shell|shell|apply_patch|bash_|text_editor_|computer_|memory_|tool_search)/

/**
 * Without what the catalogue has no price for.
 * @returns a copy; `warnings` names what was left out
 */
export function withoutPaidExtras(body: Loose, warnings: string[]): Record<string, unknown> {
  const kept: Record<string, unknown> = { ...body }
  for (const [name, harmless] of priced) {
    const value = body[name]
    if (value === undefined || value === null || harmless.includes(value)) continue
    delete kept[name]
    warnings.push(`${name} was left out: it is not in the price list`)
  }
  if (Array.isArray(body.tools)) kept.tools = body.tools.filter(isOwnTool)
  return kept
}

function isOwnTool(tool: unknown): boolean {
  const type = looseObject(tool)?.type
  return type === undefined || type === null || (typeof type === 'string' && ownTools.test(type))
}
