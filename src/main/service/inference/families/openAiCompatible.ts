import { chatPassthrough } from '../passthrough/chatPassthrough.ts'
import { openAiUpstream } from '../upstreams/openAiUpstream.ts'
import type { ModelFamily } from './modelFamily.ts'
import { compatibleQuirks } from './quirks.ts'

/** Family with OpenAI's chat completions and no known quirks. */
export const openAiCompatible: ModelFamily = {
  credentialHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  listRequest: { path: '/models', headers: {} },
  route: ({ dialect }) => ({ upstream: openAiUpstream, raw: dialect === 'chat' ? chatPassthrough : undefined }),
  quirks: compatibleQuirks,
}
