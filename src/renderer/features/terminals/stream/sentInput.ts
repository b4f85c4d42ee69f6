import type { ClientStreamMessage } from '#shared/contract/terminalStream.ts'

type NumberedInput = Extract<ClientStreamMessage, { type: 'input' }> & { seq: number }

export type SentInput = {
  /** Numbers a piece and remembers it until it is `taken`. */
  add(data: string): NumberedInput
  acknowledge(seq: number): void
  /** Inputs that may not have arrived, in order, to send again over the next connection. */
  readonly open: readonly NumberedInput[]
}

/** Input on its way. @param writer a random name, so that the host knows what it has typed already */
export function createSentInput(writer: string): SentInput {
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
