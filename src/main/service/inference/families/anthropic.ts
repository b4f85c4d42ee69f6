import { messagesPassthrough } from '../passthrough/messagesPassthrough.ts'
import { anthropicUpstream } from '../upstreams/anthropicUpstream.ts'
import type { ModelFamily } from './modelFamily.ts'

/** @see https://docs.anthropic.com/en/api/messages */
export const anthropic: ModelFamily = {
  credentialHeaders: (apiKey) => ({ 'x-api-key': apiKey }),
  listRequest: { path: '/v1/models?limit=1', headers: { 'anthropic-version': '2023-06-01' } },
  route: ({ dialect }) => ({
    upstream: anthropicUpstream,
    raw: dialect === 'messages' ? messagesPassthrough : undefined,
  }),
  quirks: {
    takesImageUrls: true,
    countsTokens: true,
    chat: undefined,
    embeddings: undefined,
  },
}
