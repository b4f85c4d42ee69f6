import { createSerialQueue } from '#platform/concurrency/serialQueue.ts'
import { exportConversation, importConversations } from '#shared/contract/chatLibrary.ts'
import { createLocalEndpoint, type LocalEndpoint } from '../base/localEndpoint.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import type { ActiveRuns } from './activeRuns.ts'
import { buildExport } from './buildExport.ts'
import type { ChatStore } from './chatStore.ts'
import type { Conversations } from './conversations.ts'
import { importChats } from './imports/importChats.ts'

type Options = {
  store: ChatStore
  conversations: Conversations
  running: ActiveRuns
  recordActivity: RecordActivity
  publish: LocalEvents['publish']
  newId: () => string
  now: () => number
}

/** Routes that import and export conversations. */
export function createTransferRoutes(options: Options): LocalEndpoint[] {
  const runExclusive = createSerialQueue()
  return [
    createLocalEndpoint(importConversations, (_, { body }) => importChats({ ...options, runExclusive }, body)),
    createLocalEndpoint(exportConversation, ({ params, query }) =>
      buildExport(options, params.conversationId, query.format),
    ),
  ]
}
