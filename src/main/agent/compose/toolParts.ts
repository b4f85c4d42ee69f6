import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '#platform/boundedJson.ts'
import { builtFile, installFolder } from '#platform/programFile.ts'
import { version } from '#platform/version.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { toRequester } from '#shared/contract/requester.ts'
import type { Tool, ToolResult } from '#shared/contract/tools/tool.ts'
import { toolNamed } from '#shared/contract/tools/toolTable.ts'
import { targetsOf } from '../base/actionTargets.ts'
import { endedError, type PrincipalRights, requesterPrincipal } from '../base/agentPrincipals.ts'
import type { MayNow } from '../base/judgement.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { Note } from '../base/note.ts'
import { newTask } from '../base/taskContext.ts'
import type { ServedTools } from '../toolServers/servedTools.ts'
import { type McpEndpoint, mcpEndpoint } from '../tools/mcpEndpoint.ts'
import { paymentKeys } from '../tools/paymentKeys.ts'
import { pendingCalls } from '../tools/pendingCalls.ts'
import { createProgramSandboxes } from '../tools/programSandboxes.ts'
import { programSandboxRepository } from '../tools/programSandboxRepository.ts'
import { createRunningCalls, type RunningCalls } from '../tools/runningCalls.ts'
import { type StdioDoor, stdioDoor } from '../tools/stdioDoor.ts'
import type { ToolBudgets } from '../tools/toolBudgets.ts'
import { ToolCaller } from '../tools/toolCaller.ts'
import { type KeptCall, toolCallRepository } from '../tools/toolCallRepository.ts'
import { toolCallRoutes } from '../tools/toolCallRoutes.ts'
import { type StdioStart, toolClientRoutes } from '../tools/toolClientRoutes.ts'
import { toolClients } from '../tools/toolClients.ts'
import { type PerformTool, type ToolExecutor, toolExecutor } from '../tools/toolExecutor.ts'
import { toolNotes } from '../tools/toolNotes.ts'
import { toolOperations } from '../tools/toolOperations.ts'
import { toolPerformer } from '../tools/toolPerformer.ts'
import { requireCallRights, type ToolRights } from '../tools/toolRights.ts'
import type { AgentGround } from './agentGround.ts'
import type { ApprovalParts } from './approvalParts.ts'
import type { AuthorityParts } from './authorityParts.ts'
import type { PaymentParts } from './paymentParts.ts'

type Given = Pick<ApprovalParts, 'approvals' | 'asks'> & {
  authority: AuthorityParts
  budgets: ToolBudgets
  payments: Pick<PaymentParts['rows'], 'find'>
  served: Pick<ServedTools, 'toolOf' | 'call'>

  /** All of the agent's own operations; known once every part is made. */
  endpoints: () => readonly LocalEndpoint[]
}

export type ToolParts = { executor: ToolExecutor; mcp: McpEndpoint; door: StdioDoor; endpoints: LocalEndpoint[] }

/** The tools: operations of the contract under names that models know, for MCP clients and the chat. */
export function toolParts(
  ground: AgentGround,
  { authority, approvals, asks, budgets, payments, served, endpoints }: Given,
): ToolParts {
  const { dataFolder, database, client, link, events, activity, tasks, unrecordedTerminals, scope, log, now, clock } =
    ground
  const { note } = activity
  const newId = () => randomBytes(12).toString('hex')
  const operations = toolOperations({ client, endpoints })
  const keys = paymentKeys({
    database,
    outcomeOf(id) {
      const record = payments.find(id)?.record
      return record && { paid: record.paid, updatedAtMs: Date.parse(record.updated_at) }
    },
    newId,
    now: clock.steadyMs,
  })
  const noteAlone: Note = (entry) => tasks.resume({ id: newTask('call'), links: {} }, () => note(entry))
  const notes = scope.own(toolNotes({ note, noteAlone, now: clock.runningMs }), (it) => it.close())
  const { principals, mayNow, targets } = authority
  const running = createRunningCalls(principals)
  const sandboxes = createProgramSandboxes({
    ...{ rows: programSandboxRepository(database), client, newId, now: clock.steadyMs, log: log.of('tools') },
  })
  const leaveReady = link.subscribe(({ type }) => {
    if (type === 'ready') void sandboxes.sweep()
  })
  scope.own(leaveReady, (it) => it())
  const perform = toolPerformer({
    ...{ operations, budgets, principals, sandboxes, paymentKeys: keys, notes, callServed: served.call },
    unrecorded: unrecordedTerminals,
    runTool: (name, given, run) => executor.runTool(name, given, run),
  })
  const toolOf = (name: string, rights: ToolRights) => toolNamed(name) ?? served.toolOf(name, rights)
  const pending = scope.own(
    pendingCalls({
      calls: toolCallRepository(database),
      perform: approvedCalls({ ...{ running, mayNow, toolOf, perform, tasks }, taskOf: activity.taskOf }),
      newId,
      now,
      steadyMs: clock.steadyMs,
    }),
    (it) => it.close(),
  )
  pending.start((id) => found(() => approvals.get(id)))
  const leave = events.subscribe((event) => {
    if (event.type === 'intent.changed' && event.intent.kind === 'tool.call') pending.decided(event.intent)
  })
  scope.own(leave, (it) => it())
  const plain = toolExecutor({
    ...{ approvals, running, mayNow, asks, pending, perform, notes, toolOf },
    refresh: (tool, args) => targets.refresh(targetsOf(tool, args)),
    call:
      ({ asker }, signal) =>
      (route, input) =>
        operations.call(route, input, { asker, signal }),
  })
  const executor: ToolExecutor = {
    ...plain,
    runTool(name, given, run) {
      const id = newTask('call')
      const requester = toRequester(run.caller.asker, tasks.current()?.id ?? id)
      return tasks.run({ id, links: {}, requester }, () => plain.runTool(name, given, run))
    },
  }
  const clients = toolClients({
    ...{ clients: authority.toolClientRows, budgets, note, principals },
    onChanged: approvals.review,
    now,
  })
  const door = scope.own(stdioDoor(dataFolder), (it) => it.close())
  const callers = { callerOf: (key: string) => door.callerOf(key) ?? clients.callerOf(key) }
  const presentRights = (caller: ToolCaller): PrincipalRights => {
    const rights = authority.rightsOf(requesterPrincipal(caller.asker))
    if (rights) return rights
    throw endedError(requesterPrincipal(caller.asker))
  }
  const pagesFolder = builtFile('renderer')
  const mcp = scope.own(
    mcpEndpoint({
      ...{ clients: callers, executor, pagesFolder, version, log: log.of('tools') },
      rightsOf: (caller) => requireCallRights(presentRights(caller).tools, caller),
    }),
    (it) => it.close(),
  )
  return { executor, mcp, door, endpoints: [...toolCallRoutes(pending), ...toolClientRoutes(clients, stdioStart())] }
}

type ApprovedOptions = {
  running: RunningCalls
  mayNow: MayNow
  toolOf: (name: string, rights: ToolRights) => Tool | undefined
  perform: PerformTool
  tasks: AgentGround['tasks']
  taskOf: AgentGround['activity']['taskOf']
}

/** Runs calls that were approved, with the rights that their callers have by then. */
function approvedCalls({ running, mayNow, toolOf, perform, tasks, taskOf }: ApprovedOptions) {
  return async ({ record, given, caller: stored }: KeptCall, signal: AbortSignal): Promise<ToolResult> => {
    const caller = ToolCaller.parse(parseJson(stored))
    const call = running.begin(caller)
    const { rights } = call
    call.markChanging()
    try {
      const tool = toolOf(record.tool, rights())
      if (!tool) throw new AppError('tool/unknown', `There is no tool ${record.tool} any more.`)
      const args = tool.input.parse(parseJson(given))
      const refusal = mayNow({ call: { caller, tool, args } })
      if (refusal) throw refusal.error
      // Approved by a person, and still part of what asked for it.
      const asked = record.intent_id === null ? undefined : taskOf({ kind: 'intent', id: record.intent_id })
      const task = asked ?? { id: newTask('call'), links: {} }
      return await tasks.resume({ ...task, requester: toRequester(caller.asker, task.id) }, () =>
        perform(tool, args, { caller, rights, signal: AbortSignal.any([signal, call.signal]), waitMs: 0 }),
      )
    } catch (failure) {
      throw call.signal.aborted ? call.signal.reason : failure
    } finally {
      call.release()
    }
  }
}

/** Uses the binary that runs Steward: another Node may be too old, and Electron's binary can run as Node. */
function stdioStart(): StdioStart {
  const script = join(installFolder, 'scripts', 'mcp.js')
  const program = existsSync(script) ? script : join(installFolder, 'out', 'main', 'mcp.js')
  const isElectron = process.versions.electron !== undefined
  return { command: [process.execPath, program], environment: isElectron ? { ELECTRON_RUN_AS_NODE: '1' } : {} }
}

function found(get: () => IntentRecord): IntentRecord | undefined {
  try {
    return get()
  } catch {
    return undefined // old intents are forgotten
  }
}
