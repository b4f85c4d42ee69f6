import { AppError } from '#shared/appError.ts'
import { changePrompt, createPrompt, deletePrompt, listPrompts, type Prompt } from '#shared/contract/chatLibrary.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { PromptRepository } from './promptRepository.ts'

type Options = {
  prompts: PromptRepository
  publish: LocalEvents['publish']
  newId: () => string
  now: () => number
}

export function createPromptRoutes({ prompts, publish, newId, now }: Options): LocalEndpoint[] {
  const requirePrompt = (id: string): Prompt => {
    const prompt = prompts.list().find((it) => it.id === id)
    if (prompt) return prompt
    throw new AppError('chat/prompt-not-found', `There is no prompt ${id}.`)
  }
  const savePrompt = (id: string, { title, text }: { title: string; text: string }): Prompt => {
    prompts.save({ id, title, text, updatedAtMs: now() })
    publish({ type: 'prompts.changed' })
    return requirePrompt(id)
  }

  return [
    createLocalEndpoint(listPrompts, () => ({ prompts: prompts.list() })),
    createLocalEndpoint(createPrompt, ({ body }) => savePrompt(`prm_${newId()}`, body)),
    createLocalEndpoint(changePrompt, ({ params, body: { title, text } }) => {
      const stored = requirePrompt(params.promptId)
      return savePrompt(stored.id, { title: title ?? stored.title, text: text ?? stored.text })
    }),
    createLocalEndpoint(deletePrompt, ({ params }) => {
      const { id } = requirePrompt(params.promptId)
      prompts.remove(id)
      publish({ type: 'prompts.changed' })
      return { success: true, id }
    }),
  ]
}
