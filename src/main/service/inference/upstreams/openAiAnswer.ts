import type { CanonicalEvent, FinishReason, Usage } from '../canonical/canonical.ts'
import { InferenceError } from '../inferenceError.ts'
import { getCount, getList, getObject, getString, type JsonObject, parseJsonObject, toJsonObject } from '../json.ts'
import { createTextChunks } from './textChunks.ts'
import type { ReaderOptions, StreamReader } from './upstream.ts'

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'filtered',
  // Stop reasons of other servers with OpenAI's protocol.
  eos: 'stop',
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'calls',
  abort: 'length',
}

export function parseOpenAiAnswer(body: JsonObject, options: ReaderOptions): CanonicalEvent[] {
  const error = findError(body)
  if (error) return [{ type: 'error', error }]
  const choice = toJsonObject(getList(body, 'choices')[0])
  const message = toJsonObject(choice?.message)
  if (!choice || !message) return [{ type: 'error', error: createUnusableError('The response has no choice.') }]
  const reader = createChoiceReader(options)
  const events: CanonicalEvent[] = [{ type: 'start', id: getString(body, 'id') }, ...reader.take(message)]
  const usage = parseUsage(body.usage)
  const native = getString(choice, 'finish_reason')
  return [
    ...events,
    ...reader.close(),
    ...(usage ? [{ type: 'usage' as const, usage }] : []),
    { type: 'finish', reason: reasons[native ?? 'stop'] ?? 'stop', native },
  ]
}

export function createOpenAiStreamReader(options: ReaderOptions): StreamReader {
  const reader = createChoiceReader(options)
  const chunks = createTextChunks()
  let started = false
  let done = false
  let native: string | undefined

  function readChunk(chunk: JsonObject): CanonicalEvent[] {
    const error = findError(chunk)
    if (error) return [{ type: 'error', error }]
    const events: CanonicalEvent[] = started ? [] : [{ type: 'start', id: getString(chunk, 'id') }]
    started = true
    const choice = toJsonObject(getList(chunk, 'choices')[0])
    if (choice) {
      events.push(...reader.take(getObject(choice, 'delta')))
      native = getString(choice, 'finish_reason') ?? native
    }
    // Moonshot reports usage within the choice.
    const usage = parseUsage(chunk.usage) ?? parseUsage(choice?.usage)
    if (usage) events.push({ type: 'usage', usage })
    return events
  }

  function end(): CanonicalEvent[] {
    if (native === undefined && !(done && started)) {
      const error = new InferenceError('upstream', 'The provider ended its response early.', { reason: 'cut' })
      return [{ type: 'error', error }]
    }
    return [...reader.close(), { type: 'finish', reason: reasons[native ?? 'stop'] ?? 'stop', native }]
  }

  return {
    push({ data }) {
      const text = chunks.readText(data)
      if (text !== undefined) return [reader.text(text)]
      if (data.trim() === '[DONE]') {
        done = true
        return end()
      }
      const chunk = parseJsonObject(data)
      if (!chunk) return [{ type: 'error', error: createUnusableError('An event of the stream is not valid JSON.') }]
      const events = readChunk(chunk)
      if (isOneText(chunk, events)) chunks.learn(data)
      return events
    },
    runIn: chunks.runIn,
    pushRun: ({ text }) => reader.text(text),
    end,
  }
}

/** Whether the chunk contains only text: no end, usage or second choice. */
function isOneText(chunk: JsonObject, events: readonly CanonicalEvent[]): boolean {
  const choices = getList(chunk, 'choices')
  const [choice] = choices
  if (events.length !== 1 || events[0]?.type !== 'text' || choices.length !== 1) return false
  return Object.keys(getObject(choice, 'delta')).length === 1 && getString(choice, 'finish_reason') === undefined
}

/** Maximum tool calls in one completion. */
const maxCalls = 1_024
/** Maximum buffered length of calls that wait until earlier ones are complete. */
const maxWaitingChars = 8 * 1024 * 1024

/**
 * Reads one choice, from a message or deltas. Calls are emitted one after another, whatever the order of their chunks.
 */
function createChoiceReader({ newCallId }: ReaderOptions) {
  let block = -1
  let kind: CanonicalEvent['type'] | undefined
  const calls = new Map<number, OpenCall>()
  /**
   * Deltas of the first call are emitted immediately. Those of later calls are buffered, because the end of the first
   * call is unknown.
   */
  let live = false
  let waitingChars = 0

  function getBlock(type: 'text' | 'refusal' | 'thinking'): number {
    if (kind !== type) block += 1
    kind = type
    return block
  }

  function begun(call: OpenCall): CanonicalEvent[] {
    block += 1
    kind = 'call'
    live = true
    call.block = block
    const signature = call.signature === undefined ? undefined : { origin: 'gemini' as const, value: call.signature }
    const events: CanonicalEvent[] = [{ type: 'call', block, id: call.id ?? newCallId(), name: call.name, signature }]
    if (call.waiting !== '') events.push({ type: 'arguments', block, text: call.waiting })
    call.waiting = ''
    return events
  }

  function ofCalls(pieces: readonly unknown[]): CanonicalEvent[] {
    const events: CanonicalEvent[] = []
    for (const [at, piece] of pieces.entries()) {
      const index = getCount(piece, 'index') ?? findIndex(calls, piece, at)
      const call = calls.get(index) ?? { id: undefined, name: '', waiting: '', signature: undefined, block: undefined }
      calls.set(index, call)
      const named = getObject(piece, 'function')
      call.id ??= getString(piece, 'id') || undefined
      if (call.name === '') call.name = getString(named, 'name') ?? ''
      call.signature ??= getString(getObject(getObject(piece, 'extra_content'), 'google'), 'thought_signature')
      const text = readArguments(named.arguments)
      if (call.block !== undefined) {
        if (text !== '') events.push({ type: 'arguments', block: call.block, text })
      } else {
        call.waiting += text
        waitingChars += text.length
        if (calls.size > maxCalls || waitingChars > maxWaitingChars) {
          return [{ type: 'error', error: createUnusableError('The response has too many tool calls.') }]
        }
        if (!live && call.name !== '') events.push(...begun(call))
      }
    }
    return events
  }

  const textEvent = (text: string): CanonicalEvent => ({ type: 'text', block: getBlock('text'), text })

  return {
    text: textEvent,
    take(delta: JsonObject): CanonicalEvent[] {
      const events: CanonicalEvent[] = []
      const thinking = getString(delta, 'reasoning_content') ?? getString(delta, 'reasoning')
      if (thinking) events.push({ type: 'thinking', block: getBlock('thinking'), text: thinking })
      const text = readContent(delta.content)
      if (text !== '') events.push(textEvent(text))
      const refusal = getString(delta, 'refusal')
      if (refusal) events.push({ type: 'refusal', block: getBlock('refusal'), text: refusal })
      const legacy = toJsonObject(delta.function_call)
      const pieces = legacy ? [{ index: 0, function: legacy }] : getList(delta, 'tool_calls')
      if (pieces.length > 0) events.push(...ofCalls(pieces))
      return events
    },
    /** Emits the queued calls after the first one. */
    close(): CanonicalEvent[] {
      if (calls.size === 0) return []
      const inOrder = [...calls].sort(([a], [b]) => a - b)
      return inOrder.flatMap(([, call]) => (call.block === undefined && call.name !== '' ? begun(call) : []))
    },
  }
}

type OpenCall = {
  id: string | undefined
  name: string
  waiting: string
  signature: string | undefined
  /** Set after the call was emitted. */
  block: number | undefined
}

/** Finds a call by its index, which some servers omit. A known id continues its call; any other starts a new one. */
function findIndex(calls: ReadonlyMap<number, OpenCall>, piece: unknown, at: number): number {
  const id = getString(piece, 'id')
  for (const [index, call] of calls) if (id !== undefined && call.id === id) return index
  return id === undefined && calls.size > 0 ? calls.size - 1 : Math.max(at, calls.size)
}

function readArguments(value: unknown): string {
  if (typeof value === 'string') return value
  return toJsonObject(value) ? JSON.stringify(value) : ''
}

function readContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => getString(part, 'text') ?? '').join('')
}

/** As OpenAI counts: prompt tokens include cached ones, and completion tokens include thinking. */
export function parseUsage(value: unknown): Usage | undefined {
  const usage = toJsonObject(value)
  if (!usage) return undefined
  const prompt = getCount(usage, 'prompt_tokens')
  const output = getCount(usage, 'completion_tokens')
  if (prompt === undefined && output === undefined) return undefined
  const details = getObject(usage, 'prompt_tokens_details')
  const cacheRead = getCount(details, 'cached_tokens') ?? getCount(usage, 'cached_tokens') ?? 0
  const written = getCount(details, 'cache_creation_input_tokens') ?? getCount(details, 'cache_write_tokens') ?? 0
  return {
    input: Math.max(0, (prompt ?? 0) - cacheRead - written),
    cacheRead,
    cacheWrite5m: written,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: getCount(getObject(usage, 'completion_tokens_details'), 'reasoning_tokens') ?? 0,
  }
}

/** Finds an error in a response with a success status, or within a stream. */
export function findError(body: JsonObject): InferenceError | undefined {
  const { error } = body
  if (error === undefined || error === null) return undefined
  const message = getString(error, 'message') ?? (typeof error === 'string' ? error : 'The provider returned an error.')
  const code = getString(error, 'code') ?? getString(error, 'type')
  return new InferenceError('upstream', message, { reason: code })
}

function createUnusableError(why: string): InferenceError {
  return new InferenceError('upstream', `The provider sent an invalid response. ${why}`, {
    reason: 'unusable',
  })
}
