import { chatPassthrough } from '../passthrough/chatPassthrough.ts'
import { openAiUpstream } from '../upstreams/openAiUpstream.ts'
import type { ModelFamily } from './modelFamily.ts'
import type { ChatQuirks, ModelQuirks } from './quirks.ts'

export const compatibleChat: ChatQuirks = {
  maxTokensField: 'max_tokens',
  hasDeveloperRole: false,
  returnsThinking: false,
  takesOwnFields: false,
  refusesThinkingFields: false,
  takesBlankTexts: false,
  takesExtraContent: false,
  thinkingSwitch: 'thinking',
  takesAnyEffort: false,
}

export const compatibleQuirks: ModelQuirks = {
  takesImageUrls: true,
  countsTokens: false,
  chat: compatibleChat,
  embeddings: { encoding: 'float', takesTokens: true, takesUser: false },
}

/** Family with OpenAI's chat completions and no known quirks. */
export const openAiCompatible: ModelFamily = {
  credentialHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  listRequest: { path: '/models', headers: {} },
  route: ({ dialect }) => ({ upstream: openAiUpstream, raw: dialect === 'chat' ? chatPassthrough : undefined }),
  quirks: compatibleQuirks,
}
