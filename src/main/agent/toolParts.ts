import { randomBytes } from 'node:crypto'
import type { IntentRecord } from '../../shared/contract/intents.ts'
import { toolNamed } from '../../shared/contract/tools/toolTable.ts'
import type { AgentGround } from './agentGround.ts'
import type { ApprovalParts } from './approvalParts.ts'
import type { LocalEndpoint } from './localEndpoint.ts'
import { newTask } from './taskContext.ts'
import { paymentKeys } from './tools/paymentKeys.ts'
import { pendingCalls } from './tools/pendingCalls.ts'
import { toolBudgets } from './tools/toolBudgets.ts'
import { ToolCaller } from './tools/toolCaller.ts'
import { toolCallRepository } from './tools/toolCallRepository.ts'
import { toolCallRoutes } from './tools/toolCallRoutes.ts'
import { type ToolExecutor, toolExecutor, toolPerformer } from './tools/toolExecutor.ts'
import { toolOperations } from './tools/toolOperations.ts'

type Given = Pick<ApprovalParts, 'approvals' | 'asks'> & {
  /** All of the agent's own operations; known once every part is made. */
  endpoints: () => readonly LocalEndpoint[]
}

export type ToolParts = { executor: ToolExecutor; endpoints: LocalEndpoint[] }

/** The tools: operations of the contract under names that models know, for MCP clients and the chat. */
export function toolParts(ground: AgentGround, { approvals, asks, endpoints }: Given): ToolParts {
  const { database, client, events, activity, tasks, scope, now } = ground
  const { note } = activity
  const newId = () => randomBytes(12).toString('hex')
  const operations = toolOperations({ client, endpoints })
  const budgets = toolBudgets({ database, newId, now })
  const keys = paymentKeys({ database, newId, now })
  const perform = toolPerformer({ operations, budgets, paymentKeys: keys, note })
  const pending = scope.own(
    pendingCalls({
      calls: toolCallRepository(database),
      async perform({ record, given, caller }, signal) {
        const tool = toolNamed(record.tool)
        if (!tool) throw new Error(`A call of ${record.tool} was kept, which is no tool.`)
        const args = tool.input.parse(JSON.parse(given))
        const by = ToolCaller.parse(JSON.parse(caller))
        // Approved by a person, and still part of what asked for it.
        const asked = record.intent_id === null ? undefined : activity.taskOf({ kind: 'intent', id: record.intent_id })
        const task = asked ?? { id: newTask('call'), links: {} }
        return tasks.resume(task, () => perform(tool, args, { caller: by, signal, waitMs: 0 }))
      },
      newId,
      now,
    }),
    (it) => it.close(),
  )
  pending.start((id) => found(() => approvals.get(id)))
  const leave = events.subscribe((event) => {
    if (event.type === 'intent.changed' && event.intent.kind === 'tool.call') pending.decided(event.intent)
  })
  scope.own(leave, (it) => it())
  const executor = toolExecutor({ operations, approvals, asks, pending, budgets, paymentKeys: keys, note, perform })
  return {
    executor: {
      ...executor,
      runTool: (name, given, run) =>
        tasks.run({ id: newTask('call'), links: {} }, () => executor.runTool(name, given, run)),
    },
    endpoints: toolCallRoutes(pending),
  }
}

function found(get: () => IntentRecord): IntentRecord | undefined {
  try {
    return get()
  } catch {
    return undefined // old intents are forgotten
  }
}
