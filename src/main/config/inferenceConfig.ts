import { z } from 'zod'
import type { InferenceOptions } from '#service/inference/providers/providerSettings.ts'
import { families, mapFamilies } from '#shared/contract/families.ts'
import { ConfiguredModel } from '#shared/modelFields.ts'

const BaseUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })
const Key = z.string().min(1, 'must not be empty').nullable().default(null)

const family = (provider: string, form: string) =>
  z
    .strictObject({
      base_url: BaseUrl.nullable()
        .default(null)
        .meta({ description: `Base URL for models of ${provider}, instead of the provider’s default. ${form}` }),
      api_key: Key.meta({
        description: `API key for ${provider}. In the application, set the key in the window instead, which stores it in the keychain.`,
      }),
      models: z
        .array(ConfiguredModel)
        .default([])
        .meta({
          description: `Additional models of ${provider}, or overrides for models that Steward knows: \`name\`, \`upstream_id\`, \`kind\` (\`chat\` or \`embedding\`), \`context_window\`, \`max_output_tokens\`, \`prices\`.`,
        }),
    })
    .prefault({})

export const InferenceConfig = z
  .strictObject({
    families: z.strictObject(mapFamilies((id) => family(families[id].title, families[id].addressForm))).prefault({}),
    local: z
      .array(
        z.strictObject({
          name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'must be lower-case letters, digits and hyphens'),
          base_url: BaseUrl,
          api_key: Key,
          models: z.array(ConfiguredModel).min(1, 'must name at least one model'),
        }),
      )
      .default([])
      .meta({
        description:
          'Your servers that implement OpenAI’s chat completions and embeddings APIs (Ollama, LM Studio, llama.cpp): `name`, `base_url` ending with `/v1`, `api_key` and `models`. If the `kind` of a model is unset, Steward infers it from the name. A model is free unless it has `prices`.',
      }),
  })
  .prefault({})
export type InferenceConfig = z.output<typeof InferenceConfig>

export function readInferenceOptions({ families, local }: InferenceConfig): InferenceOptions {
  return {
    families: mapFamilies((id) => ({
      baseUrl: families[id].base_url ?? undefined,
      apiKey: families[id].api_key ?? undefined,
    })),
    models: mapFamilies((id) => families[id].models),
    local: local.map(({ base_url: baseUrl, api_key: apiKey, ...server }) => ({
      ...server,
      baseUrl,
      apiKey: apiKey ?? undefined,
    })),
  }
}
