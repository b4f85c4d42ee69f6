import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { changePrompt, createPrompt, deletePrompt, listPrompts, type Prompt } from '#shared/contract/chatLibrary.ts'
import type { PromptId } from '#shared/contract/chats.ts'
import { chatKeys } from '../data/keys.ts'

export function usePrompts() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const query = useQuery({
    queryKey: chatKeys.prompts,
    queryFn: async ({ signal }) => (await agent(listPrompts, {}, { signal })).prompts,
  })
  const again = () => readAgain(queryClient, chatKeys.prompts)
  return {
    ...query,
    async save(id: PromptId | undefined, prompt: { title: string; text: string }): Promise<Prompt> {
      const saved = id ? await agent(changePrompt, { promptId: id, ...prompt }) : await agent(createPrompt, prompt)
      await again()
      return saved
    },
    async remove({ id, title, text }: Prompt): Promise<void> {
      await agent(deletePrompt, { promptId: id })
      await again()
      notify.done(`Deleted “${title}”`, {
        action: {
          label: 'Undo',
          run: () => void agent(createPrompt, { title, text }).then(again, notify.failed),
        },
      })
    },
  }
}
