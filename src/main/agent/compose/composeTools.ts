import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { getBuiltFile, installFolder } from '#platform/program/programFile.ts'
import { version } from '#platform/program/version.ts'
import { AppError } from '#shared/appError.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { toOriginator } from '#shared/contract/originator.ts'
import type { Tool, ToolResult } from '#shared/contract/tools/tool.ts'
import { findBuiltInTool } from '#shared/contract/tools/toolTable.ts'
import { type PrincipalRights, toEndedError, toRequesterPrincipal } from '../base/agentPrincipals.ts'
import type { EvaluateAction } from '../base/evaluateAction.ts'
import type { LocalEndpoint } from '../base/localEndpoint.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import { createTaskId } from '../base/taskContext.ts'
import { ToolCaller } from '../base/toolCaller.ts'
import { requireCallRights, type ToolRights } from '../base/toolRights.ts'
import { listTargets } from '../references/actionTargets.ts'
import type { ExternalTools } from '../toolServers/externalTools.ts'
import { createMcpEndpoint, type McpEndpoint } from '../tools/mcpEndpoint.ts'
import { createPaymentIdempotencyKeys } from '../tools/paymentIdempotencyKeys.ts'
import { createPendingCalls } from '../tools/pendingCalls.ts'
import { createProgramSandboxes } from '../tools/programSandboxes.ts'
import { createProgramSandboxRepository } from '../tools/programSandboxRepository.ts'
import { createRunningCalls, type RunningCalls } from '../tools/runningCalls.ts'
import { createStdioAccess, type StdioAccess } from '../tools/stdioAccess.ts'
import { createToolActivityRecorder } from '../tools/toolActivityRecorder.ts'
import type { ToolBudgets } from '../tools/toolBudgets.ts'
import { createToolCallRepository, type StoredCall } from '../tools/toolCallRepository.ts'
import { createToolCallRoutes } from '../tools/toolCallRoutes.ts'
import { createToolClientRoutes, type StdioStart } from '../tools/toolClientRoutes.ts'
import { createToolClients } from '../tools/toolClients.ts'
import { createToolExecutor, type PerformTool, type ToolExecutor } from '../tools/toolExecutor.ts'
import { createToolInvoker } from '../tools/toolInvoker.ts'
import { createToolOperations } from '../tools/toolOperations.ts'
import type { AgentContext } from './agentContext.ts'
import type { ApprovalModule } from './composeApprovals.ts'
import type { AuthorityModule } from './composeAuthority.ts'
import type { PaymentModule } from './composePayments.ts'

type ToolOptions = Pick<ApprovalModule, 'approvals' | 'limitedApprovals'> & {
  authority: AuthorityModule
  budgets: ToolBudgets
  payments: Pick<PaymentModule['rows'], 'find'>
  externalTools: Pick<ExternalTools, 'findTool' | 'call'>

  /** Returns the agent's own operations. Call it only after every component was created. */
  endpoints: () => readonly LocalEndpoint[]
}

export type ToolModule = {
  executor: ToolExecutor
  mcp: McpEndpoint
  stdioAccess: StdioAccess
  endpoints: LocalEndpoint[]
}

/** Composes the tools: operations of the contract under model-facing names, for MCP clients and the chat. */
export function composeTools(
  context: AgentContext,
  { authority, approvals, limitedApprovals, budgets, payments, externalTools, endpoints }: ToolOptions,
): ToolModule {
  const { dataFolder, database, client, link, events, activity, tasks, unrecordedTerminals, scope, log, now, clock } =
    context
  const { record: recordActivity } = activity
  const newId = () => randomBytes(12).toString('hex')
  const operations = createToolOperations({ client, endpoints })
  const keys = createPaymentIdempotencyKeys({
    database,
    findOutcome(id) {
      const record = payments.find(id)?.record
      return record && { paid: record.paid, updatedAtMs: Date.parse(record.updated_at) }
    },
    newId,
    now: clock.steadyMs,
  })
  const recordAlone: RecordActivity = (entry) =>
    tasks.resume({ id: createTaskId('call'), links: {} }, () => recordActivity(entry))
  const recorder = scope.own(
    createToolActivityRecorder({ recordActivity, recordOutsideTasks: recordAlone, now: clock.runningMs }),
    (it) => it.close(),
  )
  const { principals, mayNow, targets } = authority
  const running = createRunningCalls(principals)
  const sandboxes = createProgramSandboxes({
    rows: createProgramSandboxRepository(database),
    client,
    newId,
    now: clock.steadyMs,
    log: log.forArea('tools'),
  })
  const unsubscribeFromLink = link.subscribe(({ type }) => {
    if (type === 'ready') void sandboxes.sweep()
  })
  scope.own(unsubscribeFromLink, (it) => it())
  const perform = createToolInvoker({
    ...{
      operations,
      budgets,
      principals,
      sandboxes,
      paymentKeys: keys,
      activity: recorder,
      callExternal: externalTools.call,
    },
    unrecorded: unrecordedTerminals,
    runTool: (name, input, run) => executor.runTool(name, input, run),
  })
  const findTool = (name: string, rights: ToolRights) => findBuiltInTool(name) ?? externalTools.findTool(name, rights)
  const pending = scope.own(
    createPendingCalls({
      calls: createToolCallRepository(database),
      perform: createApprovedCalls({ ...{ running, mayNow, findTool, perform, tasks }, taskOf: activity.findTask }),
      newId,
      now,
      steadyMs: clock.steadyMs,
    }),
    (it) => it.close(),
  )
  pending.start((id) => findIntent(() => approvals.get(id)))
  const unsubscribeFromEvents = events.subscribe((event) => {
    if (event.type === 'intent.changed' && event.intent.kind === 'tool.call') pending.onDecision(event.intent)
  })
  scope.own(unsubscribeFromEvents, (it) => it())
  const plain = createToolExecutor({
    ...{ approvals, running, mayNow, limitedApprovals, pending, perform, activity: recorder, findTool },
    refresh: (tool, args) => targets.refresh(listTargets(tool, args)),
    call:
      ({ requester }, signal) =>
      (route, input) =>
        operations.call(route, input, { requester, signal }),
  })
  const executor: ToolExecutor = {
    ...plain,
    runTool(name, input, run) {
      const id = createTaskId('call')
      const originator = toOriginator(run.caller.requester, tasks.current()?.id ?? id)
      return tasks.run({ id, links: {}, originator }, () => plain.runTool(name, input, run))
    },
  }
  const clients = createToolClients({
    ...{ clients: authority.toolClientRows, budgets, recordActivity, principals },
    onChanged: approvals.review,
    now,
  })
  const stdioAccess = scope.own(createStdioAccess(dataFolder), (it) => it.close())
  const callers = { findCaller: (key: string) => stdioAccess.findCaller(key) ?? clients.findCaller(key) }
  const mcp = createMcp(context, { authority, clients: callers, executor })
  return {
    executor,
    mcp,
    stdioAccess,
    endpoints: [...createToolCallRoutes(pending), ...createToolClientRoutes(clients, getStdioStart())],
  }
}

type McpOptions = Pick<Parameters<typeof createMcpEndpoint>[0], 'clients' | 'executor'> & {
  authority: Pick<AuthorityModule, 'getRights'>
}

/** Creates the endpoint of MCP clients, with the current rights of each client. */
function createMcp({ scope, log }: AgentContext, { authority, clients, executor }: McpOptions): McpEndpoint {
  const requireRights = (caller: ToolCaller): PrincipalRights => {
    const principal = toRequesterPrincipal(caller.requester)
    const rights = authority.getRights(principal)
    if (rights) return rights
    throw toEndedError(principal)
  }
  return scope.own(
    createMcpEndpoint({
      clients,
      executor,
      pagesFolder: getBuiltFile('renderer'),
      version,
      log: log.forArea('tools'),
      getRights: (caller) => requireCallRights(requireRights(caller).tools, caller),
    }),
    (it) => it.close(),
  )
}

type ApprovedOptions = {
  running: RunningCalls
  mayNow: EvaluateAction
  findTool: (name: string, rights: ToolRights) => Tool | undefined
  perform: PerformTool
  tasks: AgentContext['tasks']
  taskOf: AgentContext['activity']['findTask']
}

/** Runs approved calls with the current rights of their callers. */
function createApprovedCalls({ running, mayNow, findTool, perform, tasks, taskOf }: ApprovedOptions) {
  return async ({ record, argumentText, caller: stored }: StoredCall, signal: AbortSignal): Promise<ToolResult> => {
    const caller = ToolCaller.parse(parseJson(stored))
    const call = running.begin(caller)
    const { rights } = call
    call.markChanging()
    try {
      const tool = findTool(record.tool, rights())
      if (!tool) throw new AppError('tool/unknown', `The tool ${record.tool} no longer exists.`)
      const args = tool.input.parse(parseJson(argumentText))
      const refusal = mayNow({ call: { caller, tool, args } })
      if (refusal) throw refusal.error
      // A call approved by the user remains part of the task that submitted it.
      const submittingTask = record.intent_id === null ? undefined : taskOf({ kind: 'intent', id: record.intent_id })
      const task = submittingTask ?? { id: createTaskId('call'), links: {} }
      return await tasks.resume({ ...task, originator: toOriginator(caller.requester, task.id) }, () =>
        perform(tool, args, { caller, rights, signal: AbortSignal.any([signal, call.signal]), waitMs: 0 }),
      )
    } catch (error) {
      throw call.signal.aborted ? call.signal.reason : error
    } finally {
      call.release()
    }
  }
}

/** Uses the binary that runs Steward, because another Node may be too old. Electron's binary can run as Node. */
function getStdioStart(): StdioStart {
  const script = join(installFolder, 'scripts', 'mcp.js')
  const program = existsSync(script) ? script : join(installFolder, 'out', 'main', 'mcp.js')
  const isElectron = process.versions.electron !== undefined
  return { command: [process.execPath, program], environment: isElectron ? { ELECTRON_RUN_AS_NODE: '1' } : {} }
}

function findIntent(get: () => IntentRecord): IntentRecord | undefined {
  try {
    return get()
  } catch {
    return undefined // old intents were removed
  }
}
