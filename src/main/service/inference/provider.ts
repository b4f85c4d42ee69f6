/** Endpoint of a provider, and the key for it. Held in memory only. */
export type Provider = { baseUrl: string; apiKey: string | undefined }
