import { AppError } from '#shared/appError.ts'
import { changeFolder, createFolder, deleteFolder, type Folder, listFolders } from '#shared/contract/chats.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { FolderRepository } from './folderRepository.ts'

type Options = { folders: FolderRepository; publish: LocalEvents['publish']; newId: () => string }

export function createFolderRoutes({ folders, publish, newId }: Options): LocalEndpoint[] {
  const requireFolder = (id: string): Folder => {
    const folder = folders.list().find((it) => it.id === id)
    if (folder) return folder
    throw new AppError('chat/folder-not-found', `There is no folder ${id}.`)
  }
  const saveFolder = (id: string, name: string): Folder => {
    folders.save({ id, name })
    publish({ type: 'chat.changed', conversation_id: null })
    return requireFolder(id)
  }

  return [
    createLocalEndpoint(listFolders, () => ({ folders: folders.list() })),
    createLocalEndpoint(createFolder, ({ body }) => saveFolder(`fold_${newId()}`, body.name)),
    createLocalEndpoint(changeFolder, ({ params, body }) => saveFolder(requireFolder(params.folderId).id, body.name)),
    createLocalEndpoint(deleteFolder, ({ params }) => {
      const { id } = requireFolder(params.folderId)
      folders.remove(id)
      publish({ type: 'chat.changed', conversation_id: null })
      return { success: true, id }
    }),
  ]
}
