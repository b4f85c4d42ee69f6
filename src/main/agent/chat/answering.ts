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
import type { AnswerPlan } from './answerPlan.ts'
import { type AnswerTurn, createAnswerTurn, measureAnswer } from './answerTurn.ts'
import { computeExactUsage, noUsage, sumUsage, toSpend } from './answerUsage.ts'
import type { CallRunning } from './callRunning.ts'
import { toMessageError } from './chatFailure.ts'
import type { ChatStore } from './chatStore.ts'
import { type CompletionUsage, parseCompletionEvents } from './completionEvents.ts'
import { buildCompletionRequest } from './completionRequest.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { Finished, MessageRow } from './messageRepository.ts'
import type { RunningAnswers, RunningAnswerWriter } from './runningAnswers.ts'
import { runCalls, storeCalls } from './stepCalls.ts'
import { type AccumulatedCall, createToolCallAccumulator, type ProviderState } from './toolCallAccumulator.ts'

export type AnsweringDependencies = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'reserve' | 'settle' | 'release'>
  running: RunningAnswers
  client: Pick<ServiceClient, 'stream'>
  publish: LocalEvents['publish']
  recordActivity: RecordActivity
  calls: CallRunning
  principals: Pick<AgentPrincipals, 'lease'>
  /** Reports whether the provider of a model accepted its key. */
  learnKey(provider: string, accepted: boolean): void
  /** Returns random hexadecimal digits. */
  newId: () => string
  now: () => number
  log: Log
}

export type AnswerJob = {
  row: MessageRow
  conversation: StoredConversation
  plan: AnswerPlan
  reservedMicroUsd: number
}

/** Interval of saving output, which limits the loss in a crash. */
const storeIntervalMs = 400
/** Far above the output of any model. Exceeding it indicates a broken or hostile service. */
const maxCharacters = 8_000_000
const maxWarningCharacters = 4_000

type RunOptions = {
  job: AnswerJob
  growing: RunningAnswerWriter
  turn: AnswerTurn
  /** Stores the output received so far. */
  keep: () => void
}

/** Generates an assistant message in the background. It is stored and settled regardless of the outcome. */
export function createAnswering(dependencies: AnsweringDependencies): { begin(job: AnswerJob): void } {
  const { store, budgets, running, log } = dependencies

  async function make({ ...options }: RunOptions): Promise<void> {
    const { growing, job } = options
    const outcome = await runSteps(dependencies, options)
    try {
      storeOutput(dependencies, { ...options, outcome })
    } finally {
      growing.over()
      dependencies.publish({ type: 'chat.changed', conversation_id: job.conversation.id })
      dependencies.publish({ type: 'chat.spend', conversation_id: job.conversation.id })
    }
  }

  return {
    begin(job) {
      const { row, conversation } = job
      const turn = createAnswerTurn({ store, budgets, ...job })
      const growing = running.begin({
        id: row.id,
        number: row.number,
        conversationId: conversation.id,
        estimateUsage: turn.estimateUsage,
      })
      const lease = dependencies.principals.lease(`chat:${conversation.id}`, 'chat-run')
      if (lease.signal.aborted) growing.answer.stop()
      lease.signal.addEventListener('abort', growing.answer.stop, { once: true })
      const pieces = storePeriodically(dependencies, growing)
      void make({ job, growing, turn, keep: pieces.keep })
        .catch((error: unknown) => log.error('failed to store an assistant message', { error }))
        .finally(() => {
          lease.release()
          pieces.end()
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
function findCurrent({ store }: AnsweringDependencies, { conversation }: AnswerJob): StoredConversation {
  const tools = store.conversations.find(conversation.id)?.tools
  return tools ? { ...conversation, tools } : conversation
}

/**
 * Requests completions and runs their tool calls until a completion calls no tool.
 * @returns the outcome of the last step
 */
async function runSteps(
  dependencies: AnsweringDependencies,
  { job, growing, turn, keep }: RunOptions,
): Promise<Outcome> {
  const { store, budgets } = dependencies
  for (let step = 1; ; step += 1) {
    const outcome = await runStep(dependencies, { job, growing, turn })
    if (outcome.error !== undefined || outcome.calls.length === 0) return outcome
    const usage = getStepUsage({ turn, growing }, outcome)
    const { calls, carried } = outcome
    const conversation = findCurrent(dependencies, job)
    const { max_steps: maxSteps, enabled } = conversation.tools
    const location = { conversation, growing }
    const rows = store.atomically(() => {
      budgets.settle(turn.reservation.id, toSpend(usage))
      turn.stepEnded(usage)
      keep()
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
    if (growing.signal.aborted) return { ...ended, error: growing.signal.reason }
    if (refusal !== undefined) return { ...ended, finishReason: 'step_limit' }
    try {
      const begins = store.atomically(() => turn.nextStep(growing.answer.text, findCurrent(dependencies, job)))
      if (!begins) return { ...ended, finishReason: 'turn_limit' }
    } catch (error) {
      return { ...ended, error }
    }
  }
}

async function runStep(
  dependencies: AnsweringDependencies,
  { job, growing, turn }: Omit<RunOptions, 'keep'>,
): Promise<Outcome> {
  const { store, client } = dependencies
  const { row } = job
  const conversation = findCurrent(dependencies, job)
  const { plan } = turn
  const gathered = createToolCallAccumulator()
  const outcome: Outcome = {
    usage: undefined,
    finishReason: null,
    error: undefined,
    unpaid: false,
    calls: [],
    carried: {},
  }
  const begun = growing.answer.text.length
  let opened = false
  try {
    const request = buildCompletionRequest(store, {
      conversation,
      model: plan.model,
      messages: plan.context.messages,
      answer: { number: row.number, text: growing.answer.text },
      maxTokens: plan.maxTokens,
    })
    const { headers, events } = await client.stream(createChatCompletion, request, { signal: growing.signal })
    opened = true
    const warnings = headers['x-steward-warnings']
    if (warnings) store.messages.setWarnings(row.number, warnings.slice(0, maxWarningCharacters).split('; '))
    let done = false
    for await (const data of events) {
      for (const event of parseCompletionEvents(data)) {
        if (event.type === 'piece') appendDelta(growing, event, begun)
        else if (event.type === 'call') gathered.add(event.piece)
        else if (event.type === 'carried') gathered.carry(event.carried)
        else if (event.type === 'finish') outcome.finishReason = event.reason
        else if (event.type === 'usage') outcome.usage = event.usage
        else if (event.type === 'error') throw toModelError({ status: undefined, ...event })
        else done = true
      }
    }
    if (!done && outcome.finishReason === null) throw new AppError('inference/upstream', 'The response ended early.')
    outcome.calls = gathered.calls()
    outcome.carried = gathered.readProviderState()
  } catch (error) {
    outcome.error = error
    outcome.unpaid = !opened && !growing.signal.aborted && isRejection(error)
  }
  return outcome
}

/** @throws AppError `inference/upstream` if the output exceeds its limit */
function appendDelta(
  { answer, add }: RunningAnswerWriter,
  piece: { text: string; reasoning: string },
  begun: number,
): void {
  // Starts a new paragraph for the text of a further step.
  const isNew = begun > 0 && answer.text.length === begun && piece.text !== ''
  const whole = isNew ? { ...piece, text: `\n\n${piece.text}` } : piece
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
  { turn, growing }: Pick<RunOptions, 'turn' | 'growing'>,
  { usage }: Pick<Outcome, 'usage'>,
): MessageUsage {
  if (usage) return computeExactUsage(turn.plan, usage)
  const { answer } = growing
  const cost = answer.usage.cost_micro_usd - turn.usage.cost_micro_usd
  return {
    ...answer.usage,
    input_tokens: answer.usage.input_tokens - turn.usage.input_tokens,
    cached_tokens: 0,
    output_tokens: answer.usage.output_tokens - turn.usage.output_tokens,
    reasoning_tokens: answer.usage.reasoning_tokens - turn.usage.reasoning_tokens,
    saved_micro_usd: 0,
    cost_micro_usd: Math.min(cost, turn.reservation.microUsd),
  }
}

function storeOutput(
  dependencies: AnsweringDependencies,
  { job, growing, turn, outcome }: Omit<RunOptions, 'keep'> & { outcome: Outcome },
): void {
  const { store, budgets, recordActivity, now, learnKey } = dependencies
  const { row, conversation, plan } = job
  const { text, reasoning } = growing.answer
  const last = outcome.unpaid ? null : getStepUsage({ turn, growing }, outcome)
  const usage = last ? sumUsage(turn.usage, last) : turn.usage === noUsage ? null : turn.usage
  const finished: Finished = {
    ...toEnd(growing, outcome),
    text,
    reasoning,
    ...measureAnswer(text, store.calls.listCalls([row.number])),
    usage,
    finishReason: outcome.finishReason,
    atMs: now(),
  }
  store.atomically(() => {
    store.messages.finish(row.number, finished)
    if (last) budgets.settle(turn.reservation.id, toSpend(last))
    else budgets.release(turn.reservation.id)
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

function toEnd(growing: RunningAnswerWriter, { error }: Outcome): Pick<Finished, 'state' | 'error'> {
  if (error === undefined) return { state: 'complete', error: null }
  if (growing.isStopped()) return { state: 'stopped', error: null }
  if (growing.signal.aborted) return { state: 'interrupted', error: null }
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
  { store, log }: AnsweringDependencies,
  { answer }: RunningAnswerWriter,
): { keep(): void; end(): void } {
  let stored = { text: 0, reasoning: 0, sequence: 0 }
  let timer: NodeJS.Timeout | undefined
  const keep = (): void => {
    const text = trimPartialCharacter(answer.text)
    const reasoning = trimPartialCharacter(answer.reasoning)
    if (stored.sequence === 0) store.messages.setState(answer.number, 'streaming')
    const piece = { text: text.slice(stored.text), reasoning: reasoning.slice(stored.reasoning), usage: answer.usage }
    store.messages.receive(answer.number, stored.sequence, piece)
    stored = { text: text.length, reasoning: reasoning.length, sequence: stored.sequence + 1 }
  }
  const unsubscribe = answer.onChange(() => {
    timer ??= setTimeout(() => {
      timer = undefined
      try {
        keep()
      } catch (error) {
        log.warn('failed to store streamed text', { error })
      }
    }, storeIntervalMs)
  })
  return {
    keep,
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
