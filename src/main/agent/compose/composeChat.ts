import { randomBytes } from 'node:crypto'
import type { Approvals } from '../approvals/approvals.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { assertLimitOrder, createSpendBudgets, type SharedBudget } from '../budgets/spendBudgets.ts'
import { createSpendRepository } from '../budgets/spendRepository.ts'
import { createActiveRuns } from '../chat/activeRuns.ts'
import { createAttachmentRoutes } from '../chat/attachmentRoutes.ts'
import { createAttachments } from '../chat/attachments.ts'
import { createChatBudgetRoutes } from '../chat/chatBudgetRoutes.ts'
import { startChatPurge } from '../chat/chatPurge.ts'
import { createChatReferences } from '../chat/chatReferences.ts'
import { createChatRoutes } from '../chat/chatRoutes.ts'
import { type ChatStore, createChatStore } from '../chat/chatStore.ts'
import { createConversations } from '../chat/conversations.ts'
import { createFolderRoutes } from '../chat/folderRoutes.ts'
import { recoverInterruptedRuns } from '../chat/interruptedRuns.ts'
import { createModelList } from '../chat/modelList.ts'
import { createPromptRoutes } from '../chat/promptRoutes.ts'
import { createRunExecutor } from '../chat/runExecutor.ts'
import { createSending } from '../chat/sending.ts'
import { createToolCallRunner } from '../chat/toolCallRunner.ts'
import { createTransferRoutes } from '../chat/transferRoutes.ts'
import { withTurnTask } from '../chat/turnTask.ts'
import type { ProviderKeys } from '../providers/providerKeys.ts'
import type { ExternalTools } from '../toolServers/externalTools.ts'
import type { ToolExecutor } from '../tools/toolExecutor.ts'
import type { AgentContext } from './agentContext.ts'

type ChatOptions = {
  shared: SharedBudget
  executor: ToolExecutor
  externalTools: Pick<ExternalTools, 'listOffered'>
  approvals: Pick<Approvals, 'list' | 'cancel' | 'policy' | 'renameRequester'>
  principals: AgentPrincipals
  providerKeys: Pick<ProviderKeys, 'learn'>
}

export function composeChat(
  context: AgentContext,
  { shared, executor, externalTools, approvals, principals, providerKeys }: ChatOptions,
): { titles: ChatStore['conversations']['titles']; stopAll: () => void; endpoints: LocalEndpoint[] } {
  const { database, client, events, activity, removedThings, tasks, scope, now, clock } = context
  const log = context.log.forArea('chat')
  const { publish } = events
  const { record: recordActivity } = activity
  const newId = () => randomBytes(12).toString('hex')
  const store = createChatStore(database, externalTools.listOffered)
  scope.own(removedThings.subscribe(createChatReferences({ store, publish })), (unsubscribe) => unsubscribe())
  const budgets = createSpendBudgets({ spending: createSpendRepository(database), shared, now: clock.steadyMs })
  recoverInterruptedRuns({ store, budgets, now })
  scope.own(startChatPurge({ store, passedMs: clock.passedMs, log }), (it) => it.close())
  const models = createModelList({ client, now: clock.runningMs })
  const unsubscribe = events.subscribe(({ type }) => {
    if (type === 'models.changed' || type === 'ready') models.forget()
  })
  scope.own(unsubscribe, (it) => it())
  const running = scope.own(createActiveRuns(), (it) => it.close())
  withdrawStale(approvals)
  const calls = createToolCallRunner({ executor, approvals })
  const { begin } = createRunExecutor({
    ...{ store, budgets, running, client, publish, recordActivity, calls, principals, newId, now, log },
    learnKey: providerKeys.learn,
  })
  const checkLimits = assertLimitOrder
  const chats = createConversations({
    ...{ store, budgets, running, principals, checkLimits, publish, recordActivity, newId, now },
    onRenamed: approvals.renameRequester,
  })
  return {
    titles: store.conversations.titles,
    stopAll: () => running.stopAll(),
    endpoints: [
      ...createChatRoutes({
        store,
        running,
        conversations: chats,
        sending: createSending({
          ...{ store, budgets, models, running, publish, newId, now },
          begin: withTurnTask(begin, { store, tasks, recordActivity }),
          isStopped: () => approvals.policy().stopped,
        }),
      }),
      ...createFolderRoutes({ folders: store.folders, publish, newId }),
      ...createPromptRoutes({ prompts: store.prompts, publish, newId, now }),
      ...createAttachmentRoutes(createAttachments({ store, newId, now })),
      ...createTransferRoutes({ store, running, conversations: chats, publish, recordActivity, newId, now }),
      ...createChatBudgetRoutes({ store, budgets, models, publish, recordActivity }),
    ],
  }
}

/** Withdraws requests of chats from an earlier run of the process, because their model runs ended with it. */
function withdrawStale({ list, cancel }: ChatOptions['approvals']): void {
  for (const { id, requester } of list({ state: 'waiting', limit: 500 }).intents) {
    if (requester.kind === 'tool' && requester.id.startsWith('conv_'))
      cancel(id, requester, { actor: { kind: 'system', name: 'Steward' }, error: 'Steward closed.' })
  }
}
