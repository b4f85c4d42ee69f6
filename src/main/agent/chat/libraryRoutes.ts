import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { AppError } from '#shared/appError.ts'
import {
  addAttachment,
  changePrompt,
  createPrompt,
  deletePrompt,
  exportConversation,
  getAttachmentContent,
  importConversations,
  listPrompts,
} from '#shared/contract/chatLibrary.ts'
import { changeFolder, createFolder, deleteFolder, listFolders } from '#shared/contract/chats.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { Attachments } from './attachments.ts'
import { buildExport } from './buildExport.ts'
import type { ChatStore } from './chatStore.ts'
import type { Conversations } from './conversations.ts'
import { importChats } from './imports/importChats.ts'
import type { RunningAnswers } from './runningAnswers.ts'

type Options = {
  store: ChatStore
  attachments: Attachments
  conversations: Conversations
  running: RunningAnswers
  note: RecordActivity
  publish: LocalEvents['publish']
  newId: () => string
  now: () => number
}

export function createLibraryRoutes(options: Options): LocalEndpoint[] {
  const { store, attachments, publish, newId, now } = options
  const { library } = store
  const inTurn = createSerialQueue()
  const folder = (id: string) => {
    const folder = library.folders().find((it) => it.id === id)
    if (folder) return folder
    throw new AppError('chat/folder-not-found', `There is no folder ${id}.`)
  }
  const prompt = (id: string) => {
    const prompt = library.prompts().find((it) => it.id === id)
    if (prompt) return prompt
    throw new AppError('chat/prompt-not-found', `There is no prompt ${id}.`)
  }
  const saveFolder = (id: string, name: string) => {
    library.saveFolder({ id, name })
    publish({ type: 'chat.changed', conversation_id: null })
    return folder(id)
  }
  const savePrompt = (id: string, { title, text }: { title: string; text: string }) => {
    library.savePrompt({ id, title, text, updatedAtMs: now() })
    publish({ type: 'prompts.changed' })
    return prompt(id)
  }

  return [
    createLocalEndpoint(listFolders, () => ({ folders: library.folders() })),
    createLocalEndpoint(createFolder, ({ body }) => saveFolder(`fold_${newId()}`, body.name)),
    createLocalEndpoint(changeFolder, ({ params, body }) => saveFolder(folder(params.folderId).id, body.name)),
    createLocalEndpoint(deleteFolder, ({ params }) => {
      const { id } = folder(params.folderId)
      library.removeFolder(id)
      publish({ type: 'chat.changed', conversation_id: null })
      return { success: true, id }
    }),
    createLocalEndpoint(listPrompts, () => ({ prompts: library.prompts() })),
    createLocalEndpoint(createPrompt, ({ body }) => savePrompt(`prm_${newId()}`, body)),
    createLocalEndpoint(changePrompt, ({ params, body: { title, text } }) => {
      const before = prompt(params.promptId)
      return savePrompt(before.id, { title: title ?? before.title, text: text ?? before.text })
    }),
    createLocalEndpoint(deletePrompt, ({ params }) => {
      const { id } = prompt(params.promptId)
      library.removePrompt(id)
      publish({ type: 'prompts.changed' })
      return { success: true, id }
    }),
    createLocalEndpoint(addAttachment, ({ query }, { body }) => attachments.add(query.name, body)),
    createLocalEndpoint(importConversations, (_, { body }) => importChats({ ...options, inTurn }, body)),
    createLocalEndpoint(exportConversation, ({ params, query }) =>
      buildExport(options, params.conversationId, query.format),
    ),
    createLocalEndpoint(getAttachmentContent, ({ params }) => attachments.content(params.attachmentId)),
  ]
}
