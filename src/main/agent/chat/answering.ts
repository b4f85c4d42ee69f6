import { AppError } from '../../../shared/appError.ts'
import type { AnswerUsage } from '../../../shared/contract/chatMessages.ts'
import { createChatCompletion } from '../../../shared/contract/inference.ts'
import type { Log } from '../../platform/log.ts'
import type { SpendBudgets } from '../budgets/spendBudgets.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'
import type { LocalEvents } from '../localEvents.ts'
import type { Note } from '../note.ts'
import { modelRefusal } from '../serviceRefusal.ts'
import type { AnswerPlan } from './answerPlan.ts'
import { chatFailure } from './chatFailure.ts'
import type { ChatStore } from './chatStore.ts'
import { type CompletionUsage, completionEvents } from './completionEvents.ts'
import { completionRequest } from './completionRequest.ts'
import type { StoredConversation } from './conversationRepository.ts'
import type { Finished, MessageRow } from './messageRepository.ts'
import { costOf, savedByCache } from './modelPrices.ts'
import type { GrowingAnswer, RunningAnswers } from './runningAnswers.ts'
import { tokenWeight } from './tokenWeight.ts'

export type AnsweringParts = {
  store: ChatStore
  budgets: Pick<SpendBudgets, 'settle' | 'release'>
  running: RunningAnswers
  client: Pick<ServiceClient, 'stream'>
  publish: LocalEvents['publish']
  note: Note
  now: () => number
  log: Log
}

export type AnswerJob = {
  row: MessageRow
  conversation: StoredConversation
  plan: AnswerPlan
  reservedMicroUsd: number
}

/** What comes is stored that often, so that a crash loses little. */
const storeMs = 400
/** Far beyond what any model makes: whoever sends more is broken, or means harm. */
const mostCharacters = 8_000_000
const mostWarningCharacters = 4_000

/** Makes an answer, in the background. It is stored and settled however it ends. */
export function answering(parts: AnsweringParts): { begin(job: AnswerJob): void } {
  const { running, log } = parts

  async function made(job: AnswerJob, growing: GrowingAnswer): Promise<void> {
    const outcome = await outcomeOf(parts, job, growing)
    try {
      stored(parts, { job, growing, outcome })
    } finally {
      growing.over()
      parts.publish({ type: 'chat.changed', conversation_id: job.conversation.id })
      parts.publish({ type: 'chat.spend', conversation_id: job.conversation.id })
    }
  }

  return {
    begin(job) {
      const { row, conversation, plan } = job
      const { usualTokens: input } = plan.context
      const growing = running.begin({
        id: row.id,
        number: row.number,
        conversationId: conversation.id,
        usageOf: ({ text, reasoning }) => estimatedUsage(plan, { input, text, reasoning }),
      })
      const keep = keptPieces(parts, growing)
      void made(job, growing)
        .catch((failure: unknown) => log.error('an answer could not be stored', { failure }))
        .finally(keep.end)
    },
  }
}

type Outcome = {
  usage: CompletionUsage | undefined
  finishReason: string | null
  failure: unknown
  /** The service has refused it or was never reached: it costs nothing. */
  unpaid: boolean
}

async function outcomeOf(parts: AnsweringParts, job: AnswerJob, growing: GrowingAnswer): Promise<Outcome> {
  const { store, client } = parts
  const { row, conversation, plan } = job
  const outcome: Outcome = { usage: undefined, finishReason: null, failure: undefined, unpaid: false }
  let opened = false
  try {
    const request = completionRequest(store, {
      conversation,
      model: plan.model,
      messages: plan.context.messages,
      maxTokens: plan.maxTokens,
    })
    const { headers, events } = await client.stream(createChatCompletion, request, { signal: growing.signal })
    opened = true
    const warnings = headers['x-steward-warnings']
    if (warnings) store.messages.setWarnings(row.number, warnings.slice(0, mostWarningCharacters).split('; '))
    let done = false
    for await (const data of events) {
      for (const event of completionEvents(data)) {
        if (event.type === 'piece') added(growing, event)
        else if (event.type === 'finish') outcome.finishReason = event.reason
        else if (event.type === 'usage') outcome.usage = event.usage
        else if (event.type === 'error') throw modelRefusal({ status: undefined, ...event })
        else done = true
      }
    }
    if (!done && outcome.finishReason === null) throw new AppError('inference/upstream', 'The answer broke off.')
  } catch (failure) {
    outcome.failure = failure
    outcome.unpaid = !opened && !growing.signal.aborted && wasRefused(failure)
  }
  return outcome
}

/** @throws AppError `inference/upstream` for an answer without an end */
function added({ answer, add }: GrowingAnswer, piece: { text: string; reasoning: string }): void {
  add(piece)
  if (answer.text.length + answer.reasoning.length <= mostCharacters) return
  throw new AppError('inference/upstream', 'The answer is longer than any model makes, and was cut off.')
}

/** A refusal is an answer; of a connection that broke off nobody knows what came of it. */
function wasRefused(failure: unknown): boolean {
  if (!(failure instanceof AppError)) return false
  if (failure.code !== 'service/unavailable') return true
  const cause = failure.cause
  return cause === undefined || (cause instanceof Error && /ECONNREFUSED|ENOENT/.test(cause.message))
}

function stored(parts: AnsweringParts, made: { job: AnswerJob; growing: GrowingAnswer; outcome: Outcome }): void {
  const { store, budgets, note, now } = parts
  const { job, growing, outcome } = made
  const { row, conversation, plan } = job
  const { text, reasoning } = growing.answer
  const usage = outcome.unpaid ? null : finalUsage(job, growing, outcome.usage)
  const finished: Finished = {
    ...endOf(growing, outcome),
    text,
    reasoning,
    bytes: Buffer.byteLength(text),
    tokens: Math.ceil(tokenWeight(text)),
    usage,
    finishReason: outcome.finishReason,
    atMs: now(),
  }
  store.atomically(() => {
    store.messages.finish(row.number, finished)
    if (usage) budgets.settle(row.id, spendOf(usage))
    else budgets.release(row.id)
    const current = store.conversations.find(conversation.id)
    if (current) store.conversations.save({ ...current, updatedAtMs: Math.max(current.updatedAtMs, finished.atMs) })
  })
  note({
    kind: finished.state === 'failed' ? 'chat.failed' : 'chat.answered',
    actor: { kind: 'person', name: 'You' },
    subject: conversation.id,
    links: { conversation: conversation.id, message: row.id },
    summary: summaryOf(plan.model.id, finished, usage),
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

function endOf(growing: GrowingAnswer, { failure }: Outcome): Pick<Finished, 'state' | 'error'> {
  if (failure === undefined) return { state: 'complete', error: null }
  if (growing.isStopped()) return { state: 'stopped', error: null }
  if (growing.signal.aborted) return { state: 'interrupted', error: null }
  return { state: 'failed', error: chatFailure(failure) }
}

function finalUsage(
  { plan, reservedMicroUsd }: AnswerJob,
  growing: GrowingAnswer,
  told: CompletionUsage | undefined,
): AnswerUsage {
  if (!told) {
    const estimated = growing.answer.usage
    return { ...estimated, cost_micro_usd: Math.min(estimated.cost_micro_usd, reservedMicroUsd) }
  }
  const used = {
    input: told.inputTokens,
    cached: told.cachedTokens,
    cacheWritten: told.cacheWrittenTokens,
    output: told.outputTokens,
  }
  return {
    input_tokens: used.input,
    cached_tokens: used.cached,
    output_tokens: used.output,
    reasoning_tokens: told.reasoningTokens,
    cost_micro_usd: told.costMicroUsd ?? costOf(plan.model, used),
    saved_micro_usd: savedByCache(plan.model, used),
    estimated: told.estimated,
  }
}

function estimatedUsage(
  { model }: AnswerPlan,
  { input, text, reasoning }: { input: number; text: number; reasoning: number },
): AnswerUsage {
  const output = Math.ceil(text + reasoning)
  return {
    input_tokens: input,
    cached_tokens: 0,
    output_tokens: output,
    reasoning_tokens: Math.ceil(reasoning),
    cost_micro_usd: costOf(model, { input, cached: 0, cacheWritten: 0, output }),
    saved_micro_usd: 0,
    estimated: true,
  }
}

export function spendOf(usage: AnswerUsage) {
  return {
    costMicroUsd: usage.cost_micro_usd,
    savedMicroUsd: usage.saved_micro_usd,
    inputTokens: usage.input_tokens,
    cachedTokens: usage.cached_tokens,
    outputTokens: usage.output_tokens,
    estimated: usage.estimated,
  }
}

function summaryOf(model: string, { state }: Finished, usage: AnswerUsage | null): string {
  const verb = { stopped: 'was stopped', interrupted: 'was interrupted', failed: 'failed to answer' } as const
  const did = state in verb ? verb[state as keyof typeof verb] : 'answered'
  const cost = usage ? `: ${usage.estimated ? 'about ' : ''}$${(usage.cost_micro_usd / 1_000_000).toFixed(4)}` : ''
  return `${model} ${did} in a chat${cost}.`
}

/** Stores what came, now and then; a crash then loses the last moment only. */
function keptPieces({ store, log }: AnsweringParts, { answer }: GrowingAnswer): { end(): void } {
  let kept = { text: 0, reasoning: 0, sequence: 0 }
  let timer: NodeJS.Timeout | undefined
  const keep = (): void => {
    const text = wholeCharacters(answer.text)
    const reasoning = wholeCharacters(answer.reasoning)
    if (kept.sequence === 0) store.messages.setState(answer.number, 'streaming')
    const piece = { text: text.slice(kept.text), reasoning: reasoning.slice(kept.reasoning), usage: answer.usage }
    store.messages.receive(answer.number, kept.sequence, piece)
    kept = { text: text.length, reasoning: reasoning.length, sequence: kept.sequence + 1 }
  }
  const leave = answer.onChange(() => {
    timer ??= setTimeout(() => {
      timer = undefined
      try {
        keep()
      } catch (failure) {
        log.warn('what came of an answer could not be stored', { failure })
      }
    }, storeMs)
  })
  return {
    end() {
      leave()
      clearTimeout(timer)
    },
  }
}

/** The half of a character that may end a piece waits for its other half. */
function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text
}
