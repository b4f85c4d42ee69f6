import type { ModelFamily } from './modelFamily.ts'
import { openAiCompatible } from './openAiCompatible.ts'
import { compatibleChat, compatibleQuirks } from './quirks.ts'

/** Local model servers such as Ollama, LM Studio and llama.cpp. */
export const local: ModelFamily = {
  ...openAiCompatible,
  quirks: {
    ...compatibleQuirks,
    takesImageUrls: false,
    chat: { ...compatibleChat, takesExtraContent: true, takesAnyEffort: true },
  },
}
