import type { ClientStreamMessage } from '#shared/contract/terminalStream.ts'
import { createInputQueue } from './inputQueue.ts'

type NumberedInput = Extract<ClientStreamMessage, { type: 'input' }> & { seq: number }

type SentInput = {
  /** Assigns a sequence number to a chunk and retains it until it is acknowledged. */
  add(data: string): NumberedInput
  acknowledge(seq: number): void
  /** Inputs that may not have arrived, in order, to be resent over the next connection. */
  readonly open: readonly NumberedInput[]
}

export type StreamInput = {
  /** Queues the entire text, or rejects it if more than `limitBytes` would be queued. */
  add(text: string, limitBytes: number): boolean
  /** Sends all queued input in a microtask. */
  flushLater(): void
  /** Resends input that an earlier connection may have lost, then all queued input. */
  resend(): void
  /** @returns whether all input sent so far has arrived */
  acknowledge(seq: number): boolean
  /** Resets `isRefusing`. */
  accept(): void
  /** Whether the latest text was rejected. */
  readonly isRefusing: boolean
  /** Whether input is queued or may not have arrived. */
  readonly isPending: boolean
}

type StreamInputOptions = {
  /** Random name by which the host deduplicates input. */
  writer: string
  isLive(): boolean
  send(message: ClientStreamMessage): void
}

/** Input of a terminal. Delivers each input exactly once and in order across dropped connections. */
export function createStreamInput({ writer, isLive, send }: StreamInputOptions): StreamInput {
  const queue = createInputQueue()
  const sent = createSentInput(writer)
  let isFlushing = false
  let isRefusing = false

  function flush(): void {
    isFlushing = false
    if (!isLive()) return
    for (const data of queue.take()) send(sent.add(data))
  }

  return {
    add(text, limitBytes) {
      isRefusing = !queue.add(text, limitBytes)
      return !isRefusing
    },
    flushLater() {
      if (isFlushing) return
      isFlushing = true
      queueMicrotask(flush)
    },
    resend() {
      for (const input of sent.open) send(input)
      flush()
    },
    acknowledge(seq) {
      sent.acknowledge(seq)
      return sent.open.length === 0
    },
    accept() {
      isRefusing = false
    },
    get isRefusing() {
      return isRefusing
    },
    get isPending() {
      return queue.waitingBytes > 0 || sent.open.length > 0
    },
  }
}

/** Sent input that is not acknowledged yet. @param writer random name by which the host deduplicates input */
function createSentInput(writer: string): SentInput {
  let open: NumberedInput[] = []
  let last = 0
  return {
    add(data) {
      last += 1
      const input: NumberedInput = { type: 'input', data, writer, seq: last }
      open.push(input)
      return input
    },
    acknowledge(seq) {
      open = open.filter((input) => input.seq > seq)
    },
    get open() {
      return open
    },
  }
}
