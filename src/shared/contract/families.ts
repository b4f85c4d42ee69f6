import { z } from 'zod'

/**
 * Supported model families, in display order. The id is stored and configured, and never changes. `provider` is the
 * name in `GET /v1/models`. Users create keys at `keysUrl`. `addressForm` describes how a configured URL must end.
 */
export const families = {
  a: {
    title: 'OpenAI',
    provider: 'openai',
    keysUrl: 'https://platform.openai.com/api-keys',
    addressForm: 'It ends with `/v1`.',
  },
  b: {
    title: 'Anthropic',
    provider: 'anthropic',
    keysUrl: 'https://console.anthropic.com/settings/keys',
    addressForm: 'It ends with nothing behind the host.',
  },
  c: {
    title: 'Google',
    provider: 'google',
    keysUrl: 'https://aistudio.google.com/apikey',
    addressForm: 'It ends with `/v1beta`.',
  },
  d: {
    title: 'Moonshot AI',
    provider: 'moonshot',
    keysUrl: 'https://platform.moonshot.ai/console/api-keys',
    addressForm: 'It ends with `/v1`.',
  },
  e: {
    title: 'Qwen',
    provider: 'qwen',
    keysUrl: 'https://bailian.console.alibabacloud.com/?tab=model#/api-key',
    addressForm: 'It ends with `/v1`.',
  },
} as const satisfies Readonly<Record<string, FamilyFacts>>

type FamilyFacts = { title: string; provider: string; keysUrl: string; addressForm: string }
/** Id of a model provider. Stored in configuration and databases. */
export type FamilyId = keyof typeof families

/** Ids of all model families, in display order. */
export const familyIds = Object.keys(families) as readonly FamilyId[] // the keys are those of the object above
export const FamilyId = z.enum(Object.keys(families) as [FamilyId, ...FamilyId[]], {
  error: `must be ${familyIds.slice(0, -1).join(', ')} or ${familyIds.at(-1)}`,
})

/** Creates one value per model provider. */
export function mapFamilies<T>(create: (id: FamilyId) => T): Record<FamilyId, T> {
  return Object.fromEntries(familyIds.map((id) => [id, create(id)])) as Record<FamilyId, T> // one value per id
}

/**
 * Returns the display name of a `provider` of `GET /v1/models`: the title of a family, or the name of the user's model
 * server.
 */
export function getProviderTitle(provider: string): string {
  const family = Object.values(families).find((it) => it.provider === provider)
  return family?.title ?? provider.replace(/^local:/, '')
}
