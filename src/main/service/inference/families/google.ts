import { geminiUpstream } from '../upstreams/geminiUpstream.ts'
import type { ModelFamily } from './modelFamily.ts'

/** @see https://ai.google.dev/api/generate-content */
export const google: ModelFamily = {
  credentialHeaders: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  listRequest: { path: '/models?pageSize=1', headers: {} },
  route: () => ({ upstream: geminiUpstream, raw: undefined }),
  quirks: {
    takesImageUrls: false,
    countsTokens: false,
    chat: undefined,
    embeddings: undefined,
  },
}
