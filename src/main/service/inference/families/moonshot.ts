import type { ModelFamily } from './modelFamily.ts'
import { compatibleChat, compatibleQuirks, openAiCompatible } from './openAiCompatible.ts'

/** @see https://platform.moonshot.ai/docs/api/chat */
export const moonshot: ModelFamily = {
  ...openAiCompatible,
  quirks: { ...compatibleQuirks, takesImageUrls: false, chat: { ...compatibleChat, returnsThinking: true } },
}
