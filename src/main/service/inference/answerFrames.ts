import { AppError } from '#shared/appError.ts'
import { type AnswerStream, errorAmong, finishIn, type Taken } from './answerStream.ts'
import type { ContentEvent, Dialect, Told } from './dialects/dialect.ts'
import { asInferenceError, type InferenceError } from './inferenceError.ts'
import type { InnerEvent } from './innerForm.ts'
import type { RawRelay } from './raw/rawPass.ts'
import { type Purchase, settleCut, settleFailed, settleWhole } from './settlement.ts'
import { brokenAnswer } from './upstreamPools.ts'

export type StreamedAnswer = {
  purchase: Purchase
  stream: AnswerStream
  taken: AsyncGenerator<Taken[]>
  dialect: Dialect
  /** Where the dialect is the provider's own. */
  relay: RawRelay | undefined
  told: Told
  /** Fires when the client leaves or the request is aborted. */
  signal: AbortSignal
  /** Without the provider's key. */
  scrubbed: (failure: InferenceError) => InferenceError
  onFailure: (failure: unknown) => void
}

/**
 * An answer for the wire, in frames of the caller's dialect.
 * @throws InferenceError for a failure before the first event, which has a status of its own
 */
export async function answerFrames(answer: StreamedAnswer): Promise<AsyncGenerator<string>> {
  const { purchase, stream, taken, signal } = answer
  const first = await taken.next().catch((failure: unknown) => {
    throw brokenAnswer(failure)
  })
  const events = first.done ? [] : (first.value[0]?.events ?? [])
  const failure = errorAmong(events)
  if (failure) {
    await settleFailed(purchase, events)
    await taken.return(undefined)
    throw failure
  }
  // A client may leave before it takes the first frame.
  const left = () => void settleCut(purchase, stream.answer()).catch(answer.onFailure)
  if (signal.aborted) left()
  else signal.addEventListener('abort', left, { once: true })
  return framesOf(answer, resumed(first, taken))
}

async function* framesOf(answer: StreamedAnswer, pieces: AsyncGenerator<Taken[]>): AsyncGenerator<string> {
  const { purchase, stream, relay, told, signal } = answer
  const writer = answer.dialect.streamWriter(told)
  let open = true

  async function failed(error: InferenceError): Promise<string> {
    open = false
    await settleCut(purchase, stream.answer())
    return writer.fail(answer.scrubbed(error))
  }

  try {
    for await (const piece of pieces) {
      let frames = ''
      for (const { sse, run, events } of piece) {
        const error = errorAmong(events)
        if (error) {
          yield frames + (await failed(error))
          return
        }
        if (!relay) for (const event of events) if (isContent(event)) frames += writer.write(event)
        if (run) frames += relay?.pushRun?.(run.frames) ?? ''
        if (relay && sse) frames += relay.push(sse)
        const finish = finishIn(events)
        if (finish) {
          open = false
          const bill = await settleWhole(purchase, stream.answer())
          yield frames + (relay ?? writer).finish(finish, bill)
          return
        }
      }
      if (frames !== '') yield frames
    }
  } catch (failure) {
    if (!open) return
    // The client is there still, where its request was aborted with a reason.
    if (signal.reason instanceof AppError) yield await failed(asInferenceError(signal.reason))
    else if (!signal.aborted) yield await failed(brokenAnswer(failure))
  } finally {
    // The client left, or nobody reads on: the provider was left too, and what came is paid.
    if (open) await settleCut(purchase, stream.answer())
  }
}

async function* resumed(first: IteratorResult<Taken[]>, rest: AsyncGenerator<Taken[]>): AsyncGenerator<Taken[]> {
  try {
    if (first.done) return
    yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

function isContent(event: InnerEvent): event is ContentEvent {
  return event.type !== 'finish' && event.type !== 'error'
}
