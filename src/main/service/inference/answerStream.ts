import { parseJson } from '#platform/boundedJson.ts'
import { type SseEvent, sseParser } from '#platform/http/sseEvents.ts'
import { answerCollector } from './answer.ts'
import { type AnswerLimits, createAnswerMeter } from './answerLimits.ts'
import { answerRules } from './answerRules.ts'
import type { FinishEvent } from './dialects/dialect.ts'
import type { InferenceError } from './inferenceError.ts'
import type { InnerEvent } from './innerForm.ts'
import type { TextRun } from './upstreams/textChunks.ts'
import type { StreamReader } from './upstreams/upstream.ts'

/** What one event of an upstream's stream came to. */
export type Taken = {
  /** As the provider sent it; undefined for what is told behind the last one. */
  sse: SseEvent | undefined
  /** In its place: many events that differ in nothing but their texts. */
  run?: TextRun
  events: readonly InnerEvent[]
}

type Options = {
  reader: StreamReader
  limits: AnswerLimits
  now: () => number
  /** Removes the provider's key from its responses. */
  scrubText: (text: string) => string
  restored: (event: InnerEvent) => InnerEvent
  /** Whether texts that came in one piece may be told as one. */
  joinsTexts: boolean
}

/** Reads a stream of a provider, and keeps what came: it may have to be billed without the provider's count. */
export function answerStream({ reader, limits, now, scrubText, restored, joinsTexts }: Options) {
  const parser = sseParser()
  const rules = answerRules()
  const collector = answerCollector()
  const meter = createAnswerMeter(limits, now)
  let received = false
  let isOverlong = false

  function passed(events: readonly InnerEvent[]): InnerEvent[] {
    const ruled = rules.pass(events)
    for (const [at, event] of ruled.entries()) {
      const own = restored(event)
      ruled[at] = own
      const error = own.type === 'error' ? undefined : meter.add(own)
      if (error) {
        isOverlong = true
        return [...ruled.slice(0, at), { type: 'error', error }]
      }
      if (own.type !== 'error') collector.take(own)
    }
    return ruled
  }

  const hasEnded = () => isOverlong || rules.hasEnded()

  /** Up to the end of the answer; what comes behind it is nobody's. */
  function takenOf(found: readonly SseEvent[]): Taken[] {
    const taken: Taken[] = []
    for (const event of found) {
      const data = scrubText(event.data)
      const sse = data === event.data ? event : { ...event, data }
      taken.push({ sse, events: passed(reader.push(sse)) })
      if (hasEnded()) break
    }
    return taken
  }

  function runIn(text: string, from: number): Taken | undefined {
    const run = parser.isBetween() ? reader.runIn?.(text, from) : undefined
    if (run && scrubText(run.frames) !== run.frames) return undefined
    return run && reader.pushRun && { sse: undefined, run, events: passed([reader.pushRun(run)]) }
  }

  /** Event by event, but for runs: to parse each of their events takes longer than all else that is done with it. */
  function takenWithRuns(text: string): Taken[] {
    const taken: Taken[] = []
    for (let at = 0; at < text.length && !hasEnded(); ) {
      const run = runIn(text, at)
      if (run) {
        taken.push(run)
        at += run.run?.frames.length ?? 0
        continue
      }
      const blank = text.indexOf('\n\n', at)
      const next = blank < 0 ? text.length : blank + 2
      taken.push(...takenOf(parser.take(text.slice(at, next))))
      at = next
    }
    return taken
  }

  const feed = (piece: Uint8Array): Fed => {
    const text = parser.textOf(piece)
    const taken = joinsTexts && reader.runIn ? takenWithRuns(text) : takenOf(parser.take(text))
    if (taken.length > 0) received = true
    meter.assertAlive()
    return { taken, ended: isOverlong ? 'cut' : rules.hasEnded() ? 'whole' : undefined }
  }
  const end = (): Taken[] => {
    const rest = takenOf(parser.end())
    return [...rest, { sse: undefined, events: passed(reader.end()) }]
  }

  return {
    read: (body: AsyncIterable<Uint8Array>) => takenFrom(body, { feed, end }),
    /** Whether the provider sent anything. */
    hasReceived: () => received,
    answer: collector.answer,
  }
}

export type AnswerStream = ReturnType<typeof answerStream>

type Fed = { taken: Taken[]; ended: 'whole' | 'cut' | undefined }
type Feeding = { feed: (piece: Uint8Array) => Fed; end: () => Taken[] }

/**
 * All that one piece of the stream has, together: what is awaited for each event costs more than the event. Not within the
 * function above: V8 makes a hidden class for each generator function, which would keep the whole answer in memory until
 * the next full garbage collection.
 */
async function* takenFrom(body: AsyncIterable<Uint8Array>, { feed, end }: Feeding): AsyncGenerator<Taken[]> {
  const pieces = body[Symbol.asyncIterator]()
  let isWhole = false
  try {
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
      const { taken, ended } = feed(piece.value)
      isWhole = ended === 'whole'
      if (taken.length > 0) yield taken
      if (ended) return
    }
    isWhole = true
    yield end()
  } finally {
    if (isWhole) void drained(pieces)
    else await pieces.return?.()
  }
}

/** For how long a provider may keep a connection behind the end of its answer, in milliseconds. */
const drainMs = 1_000
const maxDrainedBytes = 64 * 1024

/** Reads on behind the end, so that the connection can be used again. */
async function drained(pieces: AsyncIterator<Uint8Array>): Promise<void> {
  const late = setTimeout(() => void pieces.return?.(), drainMs)
  try {
    let bytes = 0
    for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
      bytes += piece.value.length
      if (bytes > maxDrainedBytes) return void (await pieces.return?.())
    }
  } catch {
    // The answer was whole.
  } finally {
    clearTimeout(late)
  }
}

export function finishIn(events: readonly InnerEvent[]): FinishEvent | undefined {
  return events.find((event) => event.type === 'finish')
}

export function errorAmong(events: readonly InnerEvent[]): InferenceError | undefined {
  return events.find((event) => event.type === 'error')?.error
}

/** Names the calls whose arguments are no JSON: they are passed on as the model wrote them. */
export function malformedCalls(parts: ReturnType<ReturnType<typeof answerCollector>['answer']>['parts']): string[] {
  return parts.flatMap((part) => {
    if (part.type !== 'call' || isJson(part.arguments)) return []
    return [`the arguments of call ${part.id} are no JSON`]
  })
}

function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}
