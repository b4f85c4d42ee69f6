import type { ModelFamily } from './modelFamily.ts'
import { openAiCompatible } from './openAiCompatible.ts'
import { compatibleChat, compatibleQuirks } from './quirks.ts'

/** @see https://platform.moonshot.ai/docs/api/chat */
export const moonshot: ModelFamily = {
  ...openAiCompatible,
  quirks: { ...compatibleQuirks, takesImageUrls: false, chat: { ...compatibleChat, returnsThinking: true } },
}
