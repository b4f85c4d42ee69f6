/** Endpoint of a provider and its key. Held in memory only. */
export type Provider = { baseUrl: string; apiKey: string | undefined }
