import { isBytesAnswer, isEventsAnswer } from '#platform/http/answers.ts'
import { AppError } from '#shared/appError.ts'
import type { Requester } from '#shared/contract/intents.ts'
import { parseRequest } from '#shared/contract/parseRequest.ts'
import { buildRequest, type Input, type Output, type Route } from '#shared/contract/route.ts'
import type { LocalCall, LocalEndpoint, PaymentSpender } from '../base/localEndpoint.ts'
import type { ServiceClient } from '../connections/serviceClient.ts'

export type OperationCall = {
  requester: Requester
  signal: AbortSignal
  /** Key that identifies the payment on a retry. */
  idempotencyKey?: string | undefined
  /** Program whose budget the payment counts against. */
  spender?: PaymentSpender | undefined
}

/** Calls operations of the API contract in this process: local operations like the local API, others at the service. */
export type ToolOperations = {
  /** @throws AppError from the operation */
  call<R extends Route>(route: R, input: Input<R>, by: OperationCall): Promise<Output<R>>
}

type Options = {
  client: Pick<ServiceClient, 'call'>
  /** Returns the endpoints of the local agent. Read lazily, because they include the tools. */
  endpoints: () => readonly LocalEndpoint[]
}

/** Commands may run for up to one hour. */
const answerMs = 3_600_000 + 60_000

export function createToolOperations({ client, endpoints }: Options): ToolOperations {
  return {
    async call(route, input, { requester, signal, idempotencyKey, spender }) {
      if (!route.path.startsWith('/local/')) {
        const key = route.idempotent && idempotencyKey !== undefined ? { idempotencyKey } : {}
        return client.call(route, input, { signal, answerMs, ...key })
      }
      const endpoint = endpoints().find((it) => it.route.operation === route.operation)
      if (!endpoint) throw new Error(`${route.operation} has no handler.`)
      // Tools may not call operations that require the user's session.
      if (route.auth !== 'client') throw new AppError('auth/forbidden', 'Only the session of the user can do this.')
      const answer = await endpoint.handle(parseRequest(route, splitInput(route, input)), {
        ...createLocalCall(requester, signal),
        spender,
        repeatable: toRepeatable(route, input, idempotencyKey),
      })
      if (isBytesAnswer(answer) || isEventsAnswer(answer)) throw new Error(`${route.operation} does not return JSON.`)
      return route.response.parse(answer) as Output<typeof route> // validated by parse()
    },
  }
}

/** Formats the input like HTTP, where query values are text. */
function splitInput<R extends Route>(route: R, input: Input<R>) {
  const fields = input as Record<string, unknown> // Input<R> is an intersection of objects
  const part = (names: string[], convert: (value: unknown) => unknown) =>
    Object.fromEntries(
      names.filter((name) => fields[name] !== undefined).map((name) => [name, convert(fields[name])] as const),
    )
  return {
    params: part(Object.keys(route.params.shape), String),
    query: part(Object.keys(route.query.shape), String),
    body: part(Object.keys(route.body.shape), (value) => value),
  }
}

function toRepeatable<R extends Route>(route: R, input: Input<R>, key: string | undefined): LocalCall['repeatable'] {
  if (key === undefined || !route.idempotent) return undefined
  const { path, body = '' } = buildRequest(route, input)
  return { key, method: route.method, path, body: Buffer.from(body) }
}

function createLocalCall(requester: Requester, signal: AbortSignal): Omit<LocalCall, 'repeatable'> {
  return { requester, signal, origin: '', body: createEmptyStream(), setHeader: () => {} }
}

async function* createEmptyStream(): AsyncGenerator<Uint8Array> {}
