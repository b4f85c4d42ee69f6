import type { JsonSchema } from './schemaComponents.ts'

/**
 * Describes the three forms of credentials that `requestCredential.ts` reads.
 * @param accepted the kinds of keys and tokens that are accepted
 */
export function createKeySchemes(accepted: string): Record<string, JsonSchema> {
  return {
    bearerKey: { type: 'http', scheme: 'bearer', description: accepted },
    rawKey: { type: 'apiKey', in: 'header', name: 'Authorization', description: 'API key without a scheme.' },
    apiKeyHeader: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  }
}

export const anyKey = [{ bearerKey: [] }, { rawKey: [] }, { apiKeyHeader: [] }] as const
