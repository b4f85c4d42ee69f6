import { AppError } from '#shared/appError.ts'
import { type Purchase, settleComplete, settleFailed, settlePartial } from '../billing/settlement.ts'
import type { CanonicalEvent } from '../canonical/canonical.ts'
import type { ContentEvent, Dialect, ResponseMeta } from '../dialects/dialect.ts'
import { type InferenceError, toInferenceError } from '../inferenceError.ts'
import type { PassthroughStream } from '../passthrough/passthrough.ts'
import { createBrokenResponseError } from '../providers/upstreamPools.ts'
import { type CompletionStream, findError, findFinish, type StreamStep } from './completionStream.ts'

export type StreamedCompletion = {
  purchase: Purchase
  stream: CompletionStream
  steps: AsyncGenerator<StreamStep[]>
  dialect: Dialect
  /** Set if the caller uses the provider's own dialect. */
  relay: PassthroughStream | undefined
  meta: ResponseMeta
  /** Aborts when the client disconnects or the request is aborted. */
  signal: AbortSignal
  /** Removes the provider's key from an error. */
  scrub: (error: InferenceError) => InferenceError
  onFailure: (error: unknown) => void
}

/**
 * Streams a response in frames of the caller's dialect.
 * @throws InferenceError if the error precedes the first event, so that it can have its own status
 */
export async function streamFrames(answer: StreamedCompletion): Promise<AsyncGenerator<string>> {
  const { purchase, stream, steps, signal } = answer
  const first = await steps.next().catch((error: unknown) => {
    throw createBrokenResponseError(error)
  })
  const events = first.done ? [] : (first.value[0]?.events ?? [])
  const failure = findError(events)
  if (failure) {
    await settleFailed(purchase, events)
    await steps.return(undefined)
    throw failure
  }
  // A client may disconnect before it reads the first frame.
  const onDisconnect = () => void settlePartial(purchase, stream.answer()).catch(answer.onFailure)
  if (signal.aborted) onDisconnect()
  else signal.addEventListener('abort', onDisconnect, { once: true })
  return createFrames(answer, resumeSteps(first, steps))
}

async function* createFrames(answer: StreamedCompletion, pieces: AsyncGenerator<StreamStep[]>): AsyncGenerator<string> {
  const { purchase, stream, relay, meta, signal } = answer
  const writer = answer.dialect.streamWriter(meta)
  let open = true

  async function failStream(error: InferenceError): Promise<string> {
    open = false
    await settlePartial(purchase, stream.answer())
    return writer.fail(answer.scrub(error))
  }

  try {
    for await (const piece of pieces) {
      let frames = ''
      for (const { sse, run, events } of piece) {
        const error = findError(events)
        if (error) {
          yield frames + (await failStream(error))
          return
        }
        if (!relay) for (const event of events) if (isContent(event)) frames += writer.write(event)
        if (run) frames += relay?.pushRun?.(run.frames) ?? ''
        if (relay && sse) frames += relay.push(sse)
        const finish = findFinish(events)
        if (finish) {
          open = false
          const bill = await settleComplete(purchase, stream.answer())
          yield frames + (relay ?? writer).finish(finish, bill)
          return
        }
      }
      if (frames !== '') yield frames
    }
  } catch (cause) {
    if (!open) return
    // The client is still connected if its request was aborted with a reason.
    if (signal.reason instanceof AppError) yield await failStream(toInferenceError(signal.reason))
    else if (!signal.aborted) yield await failStream(createBrokenResponseError(cause))
  } finally {
    // The client disconnected or stopped reading, so the upstream request was aborted. The received output is charged.
    if (open) await settlePartial(purchase, stream.answer())
  }
}

async function* resumeSteps(
  first: IteratorResult<StreamStep[]>,
  rest: AsyncGenerator<StreamStep[]>,
): AsyncGenerator<StreamStep[]> {
  try {
    if (first.done) return
    yield first.value
    yield* rest
  } finally {
    await rest.return(undefined)
  }
}

function isContent(event: CanonicalEvent): event is ContentEvent {
  return event.type !== 'finish' && event.type !== 'error'
}
