import type { ClientStreamMessage } from '#shared/contract/terminalStream.ts'
import { createInputQueue } from './inputQueue.ts'

type NumberedInput = Extract<ClientStreamMessage, { type: 'input' }> & { seq: number }

type SentInput = {
  /** Numbers a piece and remembers it until it is `taken`. */
  add(data: string): NumberedInput
  acknowledge(seq: number): void
  /** Inputs that may not have arrived, in order, to send again over the next connection. */
  readonly open: readonly NumberedInput[]
}

export type StreamInput = {
  /** Adds the text as a whole, or refuses it as a whole when more than `limitBytes` would wait. */
  add(text: string, limitBytes: number): boolean
  /** Sends all that waits, once the caller is done. */
  flushLater(): void
  /** Sends what an earlier connection may have lost, then all that waits. */
  resend(): void
  /** @returns whether all input sent so far has arrived */
  acknowledge(seq: number): boolean
  /** Ends the refusal of text. */
  accept(): void
  /** Whether the latest text was refused. */
  readonly isRefusing: boolean
  /** Whether input waits or may not have arrived. */
  readonly isPending: boolean
}

type StreamInputOptions = {
  /** A random name, so that the host knows what it has typed already. */
  writer: string
  isLive(): boolean
  send(message: ClientStreamMessage): void
}

/** Input of a terminal, typed once each, in order, across dropped connections. */
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

/** Input on its way. @param writer a random name, so that the host knows what it has typed already */
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
