import type { JsonSchema } from './schemaComponents.ts'

/** The three forms in which a key is taken, as `requestCredential.ts` reads them. @param accepted whose keys and tokens */
export function createKeySchemes(accepted: string): Record<string, JsonSchema> {
  return {
    bearerKey: { type: 'http', scheme: 'bearer', description: accepted },
    rawKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'The API key without a scheme.' },
    apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  }
}

export const anyKey = [{ bearerKey: [] }, { rawKey: [] }, { apiKeyHeader: [] }] as const
