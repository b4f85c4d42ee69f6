import { z } from 'zod'

/**
 * The families of models that Steward knows, in the order of lists. The id is stored and configured, and never changes;
 * `provider` is the name in `GET /v1/models`; a person creates a key at `keysUrl`; `addressForm` says how a configured
 * address ends.
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
export type FamilyId = keyof typeof families

/** Ids of all model families, in display order. */
export const familyIds = Object.keys(families) as readonly FamilyId[] // of the object above
/** Id of a model family. */
export const FamilyId = z.enum(Object.keys(families) as [FamilyId, ...FamilyId[]], {
  error: `must be ${new Intl.ListFormat('en', { type: 'disjunction' }).format(familyIds)}`.replace(',  or', ' or'),
})

/** Creates a record with one value for each family. */
export function mapFamilies<T>(create: (id: FamilyId) => T): Record<FamilyId, T> {
  return Object.fromEntries(familyIds.map((id) => [id, create(id)])) as Record<FamilyId, T> // one for each id
}

/** Title of a `provider` of `GET /v1/models`: of a family, or the name of a server of the user's own. */
export function getProviderTitle(provider: string): string {
  const family = Object.values(families).find((it) => it.provider === provider)
  return family?.title ?? provider.replace(/^local:/, '')
}
