import { responsesPassthrough } from '../passthrough/responsesPassthrough.ts'
import { responsesUpstream } from '../upstreams/responsesUpstream.ts'
import type { ModelFamily } from './modelFamily.ts'
import { openAiCompatible } from './openAiCompatible.ts'
import { compatibleChat, compatibleQuirks } from './quirks.ts'

/** @see https://platform.openai.com/docs/api-reference */
export const openAi: ModelFamily = {
  ...openAiCompatible,
  route(options) {
    const { dialect, responsesOnly, lacksResponses } = options
    if (lacksResponses || (dialect !== 'responses' && !responsesOnly)) return openAiCompatible.route(options)
    return { upstream: responsesUpstream, raw: dialect === 'responses' ? responsesPassthrough : undefined }
  },
  quirks: {
    ...compatibleQuirks,
    chat: {
      ...compatibleChat,
      maxTokensField: 'max_completion_tokens',
      hasDeveloperRole: true,
      takesOwnFields: true,
      refusesThinkingFields: true,
      takesBlankTexts: true,
    },
    embeddings: { encoding: 'base64', takesTokens: true, takesUser: true },
  },
}
