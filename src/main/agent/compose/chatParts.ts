import { randomBytes } from 'node:crypto'
import type { Approvals } from '../approvals/approvals.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import { checkOrder, type SharedBudget, spendBudgets } from '../budgets/spendBudgets.ts'
import { spendRepository } from '../budgets/spendRepository.ts'
import { answering } from '../chat/answering.ts'
import { attachments } from '../chat/attachments.ts'
import { callRunning } from '../chat/callRunning.ts'
import { chatPurge } from '../chat/chatPurge.ts'
import { chatReferences } from '../chat/chatReferences.ts'
import { chatRoutes } from '../chat/chatRoutes.ts'
import { type ChatStore, chatStore } from '../chat/chatStore.ts'
import { conversations } from '../chat/conversations.ts'
import { endInterruptedAnswers } from '../chat/interruptedAnswers.ts'
import { libraryRoutes } from '../chat/libraryRoutes.ts'
import { modelList } from '../chat/modelList.ts'
import { moneyRoutes } from '../chat/moneyRoutes.ts'
import { runningAnswers } from '../chat/runningAnswers.ts'
import { sending } from '../chat/sending.ts'
import { inTurn } from '../chat/turnTask.ts'
import type { ProviderKeys } from '../providers/providerKeys.ts'
import type { ServedTools } from '../toolServers/servedTools.ts'
import type { ToolExecutor } from '../tools/toolExecutor.ts'
import type { AgentGround } from './agentGround.ts'

type Given = {
  shared: SharedBudget
  executor: ToolExecutor
  served: Pick<ServedTools, 'offered'>
  approvals: Pick<Approvals, 'list' | 'cancel' | 'policy' | 'renameRequester'>
  principals: AgentPrincipals
  providerKeys: Pick<ProviderKeys, 'learn'>
}

/** Conversations with models, and what they may cost. */
export function chatParts(
  ground: AgentGround,
  { shared, executor, served, approvals, principals, providerKeys }: Given,
): { titles: ChatStore['conversations']['titles']; stopAll: () => void; endpoints: LocalEndpoint[] } {
  const { database, client, events, activity, removedThings, tasks, scope, now, clock } = ground
  const log = ground.log.of('chat')
  const { publish } = events
  const { note } = activity
  const newId = () => randomBytes(12).toString('hex')
  const store = chatStore(database, served.offered)
  scope.own(removedThings.subscribe(chatReferences({ store, publish })), (unsubscribe) => unsubscribe())
  const budgets = spendBudgets({ spending: spendRepository(database), shared, now: clock.steadyMs })
  endInterruptedAnswers({ store, budgets, now })
  scope.own(chatPurge({ store, passedMs: clock.passedMs, log }), (it) => it.close())
  const models = modelList({ client, now: clock.runningMs })
  const leave = events.subscribe(({ type }) => {
    if (type === 'models.changed' || type === 'ready') models.forget()
  })
  scope.own(leave, (it) => it())
  const running = scope.own(runningAnswers(), (it) => it.close())
  withdrawLeft(approvals)
  const calls = callRunning({ executor, approvals })
  const { begin } = answering({
    ...{ store, budgets, running, client, publish, note, calls, principals, newId, now, log },
    learnKey: providerKeys.learn,
  })
  const checkLimits = checkOrder
  const chats = conversations({
    ...{ store, budgets, running, principals, checkLimits, publish, note, newId, now },
    onRenamed: approvals.renameRequester,
  })
  return {
    titles: store.conversations.titles,
    stopAll: () => running.stopAll(),
    endpoints: [
      ...chatRoutes({
        store,
        running,
        conversations: chats,
        sending: sending({
          ...{ store, budgets, models, running, publish, newId, now },
          begin: inTurn(begin, { store, tasks, note }),
          isStopped: () => approvals.policy().stopped,
        }),
      }),
      ...libraryRoutes({
        store,
        running,
        conversations: chats,
        attachments: attachments({ store, newId, now }),
        publish,
        note,
        newId,
        now,
      }),
      ...moneyRoutes({ store, budgets, models, publish, note }),
    ],
  }
}

/** Withdraws what chats asked for in an earlier run, since their answers ended with it. */
function withdrawLeft({ list, cancel }: Given['approvals']): void {
  for (const { id, asker } of list({ state: 'waiting', limit: 500 }).intents) {
    if (asker.kind === 'tool' && asker.id.startsWith('conv_'))
      cancel(id, asker, { actor: { kind: 'system', name: 'Steward' }, error: 'Steward closed.' })
  }
}
