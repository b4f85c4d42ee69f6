import { useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { changeFolder, createFolder, deleteFolder, type Folder, type FolderId } from '#shared/contract/chats.ts'
import { chatKeys } from '../data/keys.ts'

export function useFolderActions() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const again = async () => {
    await readAgain(queryClient, chatKeys.folders)
    await readAgain(queryClient, chatKeys.lists)
  }
  return {
    async create(name: string): Promise<Folder> {
      const folder = await agent(createFolder, { name })
      await again()
      return folder
    },
    async rename(folderId: FolderId, name: string): Promise<void> {
      await agent(changeFolder, { folderId, name })
      await again()
    },
    async remove(folderId: FolderId): Promise<void> {
      await agent(deleteFolder, { folderId })
      await again()
    },
  }
}
