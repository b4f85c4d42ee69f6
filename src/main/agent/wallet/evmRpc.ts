import { z } from 'zod'
import { type HttpAnswer, httpClient } from '../../platform/httpClient.ts'

/** Of one network, over JSON-RPC. */
export type EvmRpc = {
  /** What a person may see of its address: it may hold a key. */
  host: string
  /** @returns the result, whatever it is; rejects with a sentence for people */
  call(method: string, params: readonly unknown[]): Promise<unknown>
  close(): Promise<void>
}

const answerMs = 6_000
const maxAnswerBytes = 1024 * 1024

const Answer = z.object({ result: z.unknown().optional(), error: z.object({ code: z.number() }).optional() })

export function evmRpc(url: string): EvmRpc {
  const { host } = new URL(url)
  const client = httpClient({ maxAnswerBytes })

  const sent = async (body: string): Promise<HttpAnswer> => {
    const signal = AbortSignal.timeout(answerMs)
    const headers = { 'content-type': 'application/json', accept: 'application/json' }
    try {
      return await client.ask(url, { method: 'POST', headers, body, signal })
    } catch (cause) {
      // Not what went wrong in detail: errors may hold the address with its key.
      throw new Error(signal.aborted ? `${host} did not answer within 6 s.` : `${host} cannot be reached.`, { cause })
    }
  }

  return {
    host,
    async call(method, params) {
      const { status, text } = await sent(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      const answer = parsed(text)
      // Its code alone: its words may repeat the address with the key.
      if (answer?.error) throw new Error(`${host} refused ${method} with code ${answer.error.code}.`)
      if (status !== 200 || !answer) throw new Error(`${host} answered with status ${status}, not with JSON-RPC.`)
      return answer.result
    },
    close: async () => client.close(),
  }
}

function parsed(text: string): z.infer<typeof Answer> | undefined {
  try {
    return Answer.safeParse(JSON.parse(text)).data
  } catch {
    return undefined // no JSON
  }
}
