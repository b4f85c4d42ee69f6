import type { ModelFamily } from './modelFamily.ts'
import { compatibleChat, compatibleQuirks, openAiCompatible } from './openAiCompatible.ts'

/** Servers of the user's own: Ollama, LM Studio, llama.cpp. */
export const local: ModelFamily = {
  ...openAiCompatible,
  quirks: {
    ...compatibleQuirks,
    takesImageUrls: false,
    chat: { ...compatibleChat, takesExtraContent: true, takesAnyEffort: true },
  },
}
