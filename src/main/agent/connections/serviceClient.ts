import { AppError, isErrorCode } from '../../../shared/appError.ts'
import { type Input, type Output, type Route, requestOf } from '../../../shared/contract/route.ts'
import { type HttpAnswer, type HttpClient, type HttpRequest, httpClient } from '../../platform/httpClient.ts'
import { askedUrl, connector, type ServiceTarget, tlsOptions } from './serviceTarget.ts'

export type ServiceCallOptions = {
  signal?: AbortSignal
  /** Instead of the agent's own; null sends none. */
  credential?: string | null
  idempotencyKey?: string
}

/** Calls one operation of the service, with the agent's own credential. */
export type ServiceClient = {
  /** @throws AppError what the service answered, or `service/unavailable` */
  call<R extends Route>(route: R, input: Input<R>, options?: ServiceCallOptions): Promise<Output<R>>
  close(): Promise<void>
}

const answerMs = 30_000
const maxAnswerBytes = 16 * 1024 * 1024

export function serviceClient(target: () => ServiceTarget | undefined): ServiceClient {
  // One for each socket and each certificate: a service that is known by its own is trusted with that one only.
  const clients = new Map<string | undefined, HttpClient>()
  const clientOf = (to: ServiceTarget): HttpClient => {
    const trusted = to.socketPath ?? to.certificate ?? to.authority
    const known = clients.get(trusted)
    if (known) return known
    const made = httpClient({ maxAnswerBytes, connect: connector(to), tls: tlsOptions(to) })
    clients.set(trusted, made)
    return made
  }

  return {
    async call(route, input, { signal, credential, idempotencyKey } = {}) {
      const to = target()
      if (!to) throw unavailable()
      const { path, body } = requestOf(route, input)
      const key = credential === undefined ? to.key : credential
      const given = signal ? AbortSignal.any([signal, AbortSignal.timeout(answerMs)]) : AbortSignal.timeout(answerMs)
      const { status, text } = await asked(clientOf(to), `${askedUrl(to)}${path}`, {
        method: route.method,
        signal: given,
        headers: {
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
        },
        body,
      })
      const answer = parsedJson(text)
      if (status >= 400) throw errorOf(status, answer)
      const parsed = route.response.safeParse(answer)
      if (parsed.success) return parsed.data as Output<typeof route> // safeParse() just proved it
      throw new AppError('service/unavailable', `The service's answer to “${route.summary}” could not be read.`, {
        cause: parsed.error,
      })
    },
    async close() {
      for (const client of clients.values()) client.close()
    },
  }
}

async function asked(client: HttpClient, url: string, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await client.ask(url, request)
  } catch (cause) {
    throw unavailable(cause)
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON: the status or the schema says what is wrong with it
  }
}

function errorOf(status: number, answer: unknown): AppError {
  const { error, code, detail } = fieldsOf(answer)
  const known = isErrorCode(code) ? code : status >= 500 ? 'service/unavailable' : 'request/invalid'
  return new AppError(known, typeof error === 'string' ? error : `The service answered with status ${status}.`, {
    ...(typeof detail === 'string' && { detail }),
  })
}

function fieldsOf(answer: unknown): { error?: unknown; code?: unknown; detail?: unknown } {
  return typeof answer === 'object' && answer !== null ? answer : {}
}

function unavailable(cause?: unknown): AppError {
  return new AppError('service/unavailable', "The service isn't responding.", { cause })
}
