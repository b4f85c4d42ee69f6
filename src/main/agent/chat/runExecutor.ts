import type { Log } from '#platform/logging/log.ts'
import { AppError } from '#shared/appError.ts'
import type { MessageUsage } from '#shared/contract/chatMessages.ts'
import { createChatCompletion } from '#shared/contract/inference.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import type { AgentPrincipals } from '../base/agentPrincipals.ts'
import type { LocalEvents } from '../base/localEvents.ts'
import type { RecordActivity } from '../base/recordActivity.ts'
import { toModelError } from '../base/serviceRefusal.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { ActiveRuns, RunWriter } from './activeRuns.ts'
import { toMessageError } from './chatFailure.ts'
import type { ChatStore } from './chatStore.ts'
import { type CompletionUsage, parseCompletionEvents } from './completionEvents.ts'
import type { CompletionPlan } from './completionPlan.ts'
import { buildCompletionRequest } from './completionRequest.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { Finished, MessageRow } from './messageRepository.ts'
import { createRunBudget, measureOutput, type RunBudget } from './runBudget.ts'
import { computeExactUsage, noUsage, sumUsage, toSpend } from './runUsage.ts'
import { runCalls, storeCalls } from './stepToolCalls.ts'
import { type AccumulatedCall, createToolCallAccumulator, type ProviderState } from './toolCallAccumulator.ts'
import type { ToolCallRunner } from './toolCallRunner.ts'

export type RunExecutorDependencies = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'reserve' | 'settle' | 'release'>
  running: ActiveRuns
  client: Pick<ServiceClient, 'stream'>
  publish: LocalEvents['publish']
  recordActivity: RecordActivity
  calls: ToolCallRunner
  principals: Pick<AgentPrincipals, 'lease'>
  /** Reports whether the provider of a model accepted its key. */
  learnKey(provider: string, accepted: boolean): void
  /** Returns random hexadecimal digits. */
  newId: () => string
  now: () => number
  log: Log
}

export type RunJob = {
  row: MessageRow
  conversation: StoredConversation
  plan: CompletionPlan
  reservedMicroUsd: number
}

/** Interval of saving output, which limits the loss in a crash. */
const storeIntervalMs = 400
/** Far above the output of any model. Exceeding it indicates a broken or hostile service. */
const maxCharacters = 8_000_000
const maxWarningCharacters = 4_000

type RunOptions = {
  job: RunJob
  writer: RunWriter
  budget: RunBudget
  /** Stores the output received so far. */
  save: () => void
}

/** Generates an assistant message in the background. It is stored and settled regardless of the outcome. */
export function createRunExecutor(dependencies: RunExecutorDependencies): { begin(job: RunJob): void } {
  const { store, budgets, running, log } = dependencies

  async function execute({ ...options }: RunOptions): Promise<void> {
    const { writer, job } = options
    const outcome = await runSteps(dependencies, options)
    try {
      storeOutput(dependencies, { ...options, outcome })
    } finally {
      writer.finish()
      dependencies.publish({ type: 'chat.changed', conversation_id: job.conversation.id })
      dependencies.publish({ type: 'chat.spend', conversation_id: job.conversation.id })
    }
  }

  return {
    begin(job) {
      const { row, conversation } = job
      const budget = createRunBudget({ store, budgets, ...job })
      const writer = running.begin({
        id: row.id,
        number: row.number,
        conversationId: conversation.id,
        estimateUsage: budget.estimateUsage,
      })
      const lease = dependencies.principals.lease(`chat:${conversation.id}`, 'chat-run')
      if (lease.signal.aborted) writer.run.stop()
      lease.signal.addEventListener('abort', writer.run.stop, { once: true })
      const saving = storePeriodically(dependencies, writer)
      void execute({ job, writer, budget, save: saving.save })
        .catch((error: unknown) => log.error('failed to store an assistant message', { error }))
        .finally(() => {
          lease.release()
          saving.end()
        })
    },
  }
}

type Outcome = {
  usage: CompletionUsage | undefined
  finishReason: string | null
  error: unknown
  /** Whether the service rejected the request or was never reached, so that it costs nothing. */
  unpaid: boolean
  calls: AccumulatedCall[]
  carried: ProviderState
}

/**
 * Returns the conversation of an assistant message with its current tools, which may be narrower than at the start of
 * the run.
 */
function findCurrent({ store }: RunExecutorDependencies, { conversation }: RunJob): StoredConversation {
  const tools = store.conversations.find(conversation.id)?.tools
  return tools ? { ...conversation, tools } : conversation
}

/**
 * Requests completions and runs their tool calls until a completion calls no tool.
 * @returns the outcome of the last step
 */
async function runSteps(
  dependencies: RunExecutorDependencies,
  { job, writer, budget, save }: RunOptions,
): Promise<Outcome> {
  const { store, budgets } = dependencies
  for (let step = 1; ; step += 1) {
    const outcome = await runStep(dependencies, { job, writer, budget })
    if (outcome.error !== undefined || outcome.calls.length === 0) return outcome
    const usage = getStepUsage({ budget, writer }, outcome)
    const { calls, carried } = outcome
    const conversation = findCurrent(dependencies, job)
    const { max_steps: maxSteps, enabled } = conversation.tools
    const location = { conversation, writer }
    const rows = store.atomically(() => {
      budgets.settle(budget.reservation.id, toSpend(usage))
      budget.stepEnded(usage)
      save()
      return storeCalls(dependencies, { step, calls, carried }, location)
    })
    const isLast = step >= maxSteps
    const refusal = !enabled
      ? 'Not run: tools are off in this chat.'
      : isLast
        ? `Not run: the limit of ${maxSteps} steps per answer is reached.`
        : undefined
    await runCalls(dependencies, rows, location, refusal)
    // Usage of the step is already settled.
    const ended = { ...outcome, usage: undefined, unpaid: true, calls: [] }
    if (writer.signal.aborted) return { ...ended, error: writer.signal.reason }
    if (refusal !== undefined) return { ...ended, finishReason: 'step_limit' }
    try {
      const begins = store.atomically(() => budget.nextStep(writer.run.text, findCurrent(dependencies, job)))
      if (!begins) return { ...ended, finishReason: 'turn_limit' }
    } catch (error) {
      return { ...ended, error }
    }
  }
}

async function runStep(
  dependencies: RunExecutorDependencies,
  { job, writer, budget }: Omit<RunOptions, 'save'>,
): Promise<Outcome> {
  const { store, client } = dependencies
  const { row } = job
  const conversation = findCurrent(dependencies, job)
  const { plan } = budget
  const toolCalls = createToolCallAccumulator()
  const outcome: Outcome = {
    usage: undefined,
    finishReason: null,
    error: undefined,
    unpaid: false,
    calls: [],
    carried: {},
  }
  const startLength = writer.run.text.length
  let opened = false
  try {
    const request = buildCompletionRequest(store, {
      conversation,
      model: plan.model,
      messages: plan.context.messages,
      answer: { number: row.number, text: writer.run.text },
      maxTokens: plan.maxTokens,
    })
    const { headers, events } = await client.stream(createChatCompletion, request, { signal: writer.signal })
    opened = true
    const warnings = headers['x-steward-warnings']
    if (warnings) store.messages.setWarnings(row.number, warnings.slice(0, maxWarningCharacters).split('; '))
    let done = false
    for await (const data of events) {
      for (const event of parseCompletionEvents(data)) {
        if (event.type === 'delta') appendDelta(writer, event, startLength)
        else if (event.type === 'call') toolCalls.add(event.delta)
        else if (event.type === 'carried') toolCalls.carry(event.carried)
        else if (event.type === 'finish') outcome.finishReason = event.reason
        else if (event.type === 'usage') outcome.usage = event.usage
        else if (event.type === 'error') throw toModelError({ status: undefined, ...event })
        else done = true
      }
    }
    if (!done && outcome.finishReason === null) throw new AppError('inference/upstream', 'The response ended early.')
    outcome.calls = toolCalls.calls()
    outcome.carried = toolCalls.readProviderState()
  } catch (error) {
    outcome.error = error
    outcome.unpaid = !opened && !writer.signal.aborted && isRejection(error)
  }
  return outcome
}

/** @throws AppError `inference/upstream` if the output exceeds its limit */
function appendDelta(
  { run: answer, add }: RunWriter,
  delta: { text: string; reasoning: string },
  startLength: number,
): void {
  // Starts a new paragraph for the text of a further step.
  const isNew = startLength > 0 && answer.text.length === startLength && delta.text !== ''
  const whole = isNew ? { ...delta, text: `\n\n${delta.text}` } : delta
  const available = maxCharacters - answer.text.length - answer.reasoning.length
  const text = whole.text.slice(0, available)
  add({ text, reasoning: whole.reasoning.slice(0, available - text.length) })
  if (whole.text.length + whole.reasoning.length <= available) return
  throw new AppError('inference/upstream', 'The response exceeded the maximum length and was cut off.')
}

/** Whether the service rejected the request. The outcome is unknown after a lost connection. */
function isRejection(error: unknown): boolean {
  if (!(error instanceof AppError)) return false
  if (error.code !== 'service/unavailable') return true
  const cause = error.cause
  return cause === undefined || (cause instanceof Error && /ECONNREFUSED|ENOENT/.test(cause.message))
}

/** Returns the usage of the step that just ended. */
function getStepUsage(
  { budget, writer }: Pick<RunOptions, 'budget' | 'writer'>,
  { usage }: Pick<Outcome, 'usage'>,
): MessageUsage {
  if (usage) return computeExactUsage(budget.plan, usage)
  const { run: answer } = writer
  const cost = answer.usage.cost_micro_usd - budget.usage.cost_micro_usd
  return {
    ...answer.usage,
    input_tokens: answer.usage.input_tokens - budget.usage.input_tokens,
    cached_tokens: 0,
    output_tokens: answer.usage.output_tokens - budget.usage.output_tokens,
    reasoning_tokens: answer.usage.reasoning_tokens - budget.usage.reasoning_tokens,
    saved_micro_usd: 0,
    cost_micro_usd: Math.min(cost, budget.reservation.microUsd),
  }
}

function storeOutput(
  dependencies: RunExecutorDependencies,
  { job, writer, budget, outcome }: Omit<RunOptions, 'save'> & { outcome: Outcome },
): void {
  const { store, budgets, recordActivity, now, learnKey } = dependencies
  const { row, conversation, plan } = job
  const { text, reasoning } = writer.run
  const last = outcome.unpaid ? null : getStepUsage({ budget, writer }, outcome)
  const usage = last ? sumUsage(budget.usage, last) : budget.usage === noUsage ? null : budget.usage
  const finished: Finished = {
    ...toEnd(writer, outcome),
    text,
    reasoning,
    ...measureOutput(text, store.calls.listCalls([row.number])),
    usage,
    finishReason: outcome.finishReason,
    atMs: now(),
  }
  store.atomically(() => {
    store.messages.finish(row.number, finished)
    if (last) budgets.settle(budget.reservation.id, toSpend(last))
    else budgets.release(budget.reservation.id)
    const current = store.conversations.find(conversation.id)
    if (current) store.conversations.save({ ...current, updatedAtMs: Math.max(current.updatedAtMs, finished.atMs) })
  })
  if (finished.state === 'complete') learnKey(plan.model.provider, true)
  else if (finished.error?.code === 'inference/provider-key') learnKey(plan.model.provider, false)
  recordActivity({
    kind: finished.state === 'failed' ? 'chat.failed' : 'chat.answered',
    actor: { kind: 'tool', name: plan.model.id },
    subject: conversation.id,
    links: { conversation: conversation.id, message: row.id },
    summary: summarize(plan.model.id, finished, usage),
    detail: {
      conversation_id: conversation.id,
      message_id: row.id,
      model: plan.model.id,
      state: finished.state,
      ...(usage && {
        cost_micro_usd: usage.cost_micro_usd,
        input_count: usage.input_tokens,
        output_count: usage.output_tokens,
        estimated: usage.estimated,
      }),
      ...(finished.error && { code: finished.error.code }),
    },
  })
}

function toEnd(writer: RunWriter, { error }: Outcome): Pick<Finished, 'state' | 'error'> {
  if (error === undefined) return { state: 'complete', error: null }
  if (writer.isStopped()) return { state: 'stopped', error: null }
  if (writer.signal.aborted) return { state: 'interrupted', error: null }
  return { state: 'failed', error: toMessageError(error) }
}

function summarize(model: string, { state }: Finished, usage: MessageUsage | null): string {
  const verb = { stopped: 'was stopped', interrupted: 'was interrupted', failed: 'failed to answer' } as const
  const did = state in verb ? verb[state as keyof typeof verb] : 'answered'
  const cost = usage
    ? `: ${usage.estimated ? 'about ' : ''}${formatUsd(Math.round(usage.cost_micro_usd / 100) * 100, 'exact')}`
    : ''
  return `${model} ${did} in a chat${cost}.`
}

/** Stores the output periodically, so that a crash loses only the most recent part. */
function storePeriodically(
  { store, log }: RunExecutorDependencies,
  { run: answer }: RunWriter,
): { save(): void; end(): void } {
  let stored = { text: 0, reasoning: 0, sequence: 0 }
  let timer: NodeJS.Timeout | undefined
  const save = (): void => {
    const text = trimPartialCharacter(answer.text)
    const reasoning = trimPartialCharacter(answer.reasoning)
    if (stored.sequence === 0) store.messages.setState(answer.number, 'streaming')
    const delta = { text: text.slice(stored.text), reasoning: reasoning.slice(stored.reasoning), usage: answer.usage }
    store.messages.receive(answer.number, stored.sequence, delta)
    stored = { text: text.length, reasoning: reasoning.length, sequence: stored.sequence + 1 }
  }
  const unsubscribe = answer.onChange(() => {
    timer ??= setTimeout(() => {
      timer = undefined
      try {
        save()
      } catch (error) {
        log.warn('failed to store streamed text', { error })
      }
    }, storeIntervalMs)
  })
  return {
    save,
    end() {
      unsubscribe()
      clearTimeout(timer)
    },
  }
}

/** Removes an incomplete surrogate pair from the end of a chunk. */
function trimPartialCharacter(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}
