import type { ModelFamily } from './modelFamily.ts'
import { openAiCompatible } from './openAiCompatible.ts'
import { compatibleChat, compatibleQuirks } from './quirks.ts'

/** @see https://www.alibabacloud.com/help/en/model-studio/qwen-api-reference */
export const qwen: ModelFamily = {
  ...openAiCompatible,
  quirks: {
    ...compatibleQuirks,
    chat: { ...compatibleChat, thinkingSwitch: 'enable_thinking' },
    embeddings: { encoding: 'float', takesTokens: false, takesUser: false },
  },
}
