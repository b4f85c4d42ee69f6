import { ModelNames } from '../../../../shared/contract/chats.ts'

const key = 'steward.chat.models'

/** The models of the last chat, for the next one. */
export function keptModels(): string[] {
  try {
    return ModelNames.parse(JSON.parse(localStorage.getItem(key) ?? 'null'))
  } catch {
    return [] // none yet, or written by something else
  }
}

export function keepModels(models: readonly string[]): void {
  localStorage.setItem(key, JSON.stringify(models))
}
